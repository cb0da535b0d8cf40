// The whole run at the side: how much there is, what was lost, what else happened, and where the view is.

let mapIsStale = true;
const mapPicture = document.createElement("canvas");
const drawMapPicture = () => {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [size.map, size.height];
  mapPicture.width = map.width;
  mapPicture.height = map.height;
  const picture = mapPicture.getContext("2d");
  picture.setTransform(ratio, 0, 0, ratio, 0, 0);
  const bins = Math.max(1, Math.floor(height / 2));
  const all = new Float64Array(bins);
  const lost = new Float64Array(bins);
  const bin = (row) => Math.min(bins - 1, Math.floor((position[row] / (length || 1)) * bins));
  for (let item = 0; item < flightCount; item++) {
    if (!isShown(item) || (fits !== null && !fits[item])) continue;
    all[bin(first[item])]++;
    if (flights.features[item] & (DROPPED | UNREACHABLE)) lost[bin(last[item])]++;
  }
  const most = all.reduce((a, b) => Math.max(a, b), 1);
  const bar = (value) => (value ? Math.max(2, Math.sqrt(value / most) * (width - 8)) : 0);
  for (let index = 0; index < bins; index++) {
    picture.fillStyle = colours.edge;
    picture.fillRect(0, index * 2, bar(all[index]), 2);
    picture.fillStyle = colours.bad;
    picture.fillRect(0, index * 2, bar(lost[index]), 2);
  }
  for (let item = flightCount; item < itemCount; item++) {
    if (!isShown(item) || (fits !== null && !fits[item])) continue;
    picture.fillStyle = colours[signs[marks.sign[item - flightCount]].class];
    picture.fillRect(width - 7, bin(first[item]) * 2, 7, 2);
  }
  mapIsStale = false;
};
const drawMap = () => {
  if (mapIsStale) drawMapPicture();
  mapContext.setTransform(1, 0, 0, 1, 0, 0);
  mapContext.clearRect(0, 0, map.width, map.height);
  if (map.width && map.height) mapContext.drawImage(mapPicture, 0, 0);
  const ratio = window.devicePixelRatio || 1;
  mapContext.setTransform(ratio, 0, 0, ratio, 0, 0);
  const top = (view.top / (length || 1)) * size.height;
  const height = Math.max(8, Math.min(size.height, (chartHeight() / view.scale / (length || 1)) * size.height));
  mapContext.fillStyle = colours.select;
  mapContext.strokeStyle = colours.packet;
  mapContext.fillRect(0, top, size.map, height);
  mapContext.strokeRect(0.5, top + 0.5, size.map - 1, height - 1);
};
