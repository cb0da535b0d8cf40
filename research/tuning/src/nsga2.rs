//! NSGA-II (Deb, Pratap, Agarwal and Meyarivan, 2002, "A fast and elitist multiobjective genetic algorithm: NSGA-II"):
//! sorting by domination, crowding distance, binary tournaments, simulated binary crossover, polynomial mutation.
//!
//! It is written here because the crate of the registry that has it, `moors`, brings a hundred others, and draws from
//! `StdRng`, whose numbers may change with a version of `rand`.

use std::cmp::Ordering;

use simutant_random::{Random, portable};

/// How NSGA-II searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nsga2 {
    /// How many individuals there are in a generation: two at least.
    pub population: usize,
    /// How many generations are made after the first one.
    pub generations: usize,
    /// Fixes the search.
    pub seed: u64,
    /// How likely two parents are crossed, and not copied.
    pub crossover: f64,
    /// How close children of a crossover are to their parents: the distribution index.
    pub crossover_index: f64,
    /// How close a mutated gene is to what it was: the distribution index. One gene of each child is mutated on average.
    pub mutation_index: f64,
}

impl Default for Nsga2 {
    /// A population of 50 in 100 generations, with the operators of jMetal: crossover with probability 0.9, and 20 as
    /// both indices.
    fn default() -> Self {
        Self { population: 50, generations: 100, seed: 1, crossover: 0.9, crossover_index: 20.0, mutation_index: 20.0 }
    }
}

/// A point of the search, and what it is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Individual {
    /// Numbers from 0 to 1.
    pub genes: Vec<f64>,
    /// What is maximised.
    pub objectives: Vec<f64>,
}

/// An individual among those of its generation.
#[derive(Debug, Clone)]
struct Ranked {
    individual: Individual,
    /// How many fronts are before its own.
    front: usize,
    crowding: f64,
}

impl Nsga2 {
    /// Returns the individuals of the last generation that none dominates, each once, in the order of their genes.
    ///
    /// `evaluate` returns the objectives of each of some vectors of `dimensions` genes, in their order; all have as many
    /// objectives. It is called once for each generation. The first generation has the vectors of `starts`, and random
    /// ones.
    pub fn maximise(
        &self,
        dimensions: usize,
        starts: &[Vec<f64>],
        mut evaluate: impl FnMut(&[Vec<f64>]) -> Vec<Vec<f64>>,
    ) -> Vec<Individual> {
        let mut random = Random::from_seed(self.seed).stream("nsga2");
        let population = self.population.max(2);
        let mut first: Vec<Vec<f64>> = starts.iter().take(population).cloned().collect();
        first.resize_with(population, || (0..dimensions).map(|_| random.unit()).collect());
        let mut ranked = survivors(evaluated(first, &mut evaluate), population);
        for _ in 0..self.generations {
            let mut children = Vec::new();
            while children.len() < population {
                let parents = [(); 2].map(|()| tournament(&ranked, &mut random));
                let pair = self.crossed(parents, &mut random);
                children.extend(pair.into_iter().map(|child| self.mutated(child, &mut random)));
            }
            children.truncate(population);
            let mut all: Vec<Individual> = ranked.into_iter().map(|ranked| ranked.individual).collect();
            all.extend(evaluated(children, &mut evaluate));
            ranked = survivors(all, population);
        }
        let best = ranked.into_iter().filter(|ranked| ranked.front == 0);
        let mut best: Vec<Individual> = best.map(|ranked| ranked.individual).collect();
        best.sort_by(|one, other| lexicographic(&one.genes, &other.genes));
        best.dedup_by(|one, other| one.genes == other.genes);
        best
    }

    /// Returns two children: simulated binary crossover, within bounds.
    fn crossed(&self, [one, other]: [&Individual; 2], random: &mut Random) -> [Vec<f64>; 2] {
        let (mut first, mut second) = (one.genes.clone(), other.genes.clone());
        if random.unit() >= self.crossover {
            return [first, second];
        }
        for (one, other) in first.iter_mut().zip(&mut second) {
            let (low, high) = (one.min(*other), one.max(*other));
            if random.unit() >= 0.5 || high - low < 1e-14 {
                continue;
            }
            let drawn = random.unit();
            // How far children are from the middle, by the room between the parents and the bound.
            let spread = |room: f64| {
                let beta = 1.0 + 2.0 * room / (high - low);
                let alpha = 2.0 - power(beta, -(self.crossover_index + 1.0));
                let part = drawn * alpha;
                let base = if part <= 1.0 { part } else { 1.0 / (2.0 - part) };
                power(base, 1.0 / (self.crossover_index + 1.0))
            };
            let middle = low + high;
            let below = (0.5 * (middle - spread(low) * (high - low))).clamp(0.0, 1.0);
            let above = (0.5 * (middle + spread(1.0 - high) * (high - low))).clamp(0.0, 1.0);
            let is_swapped = random.unit() < 0.5;
            (*one, *other) = if is_swapped { (above, below) } else { (below, above) };
        }
        [first, second]
    }

    /// Mutates each gene with one chance in as many as there are: polynomial mutation, within bounds.
    fn mutated(&self, mut genes: Vec<f64>, random: &mut Random) -> Vec<f64> {
        let chance = 1.0 / genes.len().max(1) as f64;
        let index = self.mutation_index + 1.0;
        for gene in &mut genes {
            if random.unit() >= chance {
                continue;
            }
            let drawn = random.unit();
            let moved = if drawn < 0.5 {
                power(2.0 * drawn + (1.0 - 2.0 * drawn) * power(1.0 - *gene, index), 1.0 / index) - 1.0
            } else {
                1.0 - power(2.0 * (1.0 - drawn) + (2.0 * drawn - 1.0) * power(*gene, index), 1.0 / index)
            };
            *gene = (*gene + moved).clamp(0.0, 1.0);
        }
        genes
    }
}

/// Returns a power of a number from 0 on, the same on every platform.
///
/// Of the least numbers, which have no logarithm there, a positive power is 0.
fn power(base: f64, exponent: f64) -> f64 {
    if !base.is_normal() || base < 0.0 {
        return 0.0;
    }
    let logarithm = exponent * portable::ln(base);
    if logarithm < 0.0 { 1.0 / portable::exp(-logarithm) } else { portable::exp(logarithm) }
}

fn evaluated(genes: Vec<Vec<f64>>, evaluate: &mut impl FnMut(&[Vec<f64>]) -> Vec<Vec<f64>>) -> Vec<Individual> {
    let objectives = evaluate(&genes);
    genes.into_iter().zip(objectives).map(|(genes, objectives)| Individual { genes, objectives }).collect()
}

/// Returns whether objectives are nowhere less than others, and more somewhere.
pub fn dominates(one: &[f64], other: &[f64]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.clone().all(|(one, other)| one >= other) && pairs.any(|(one, other)| one > other)
}

/// Returns the better of two random individuals: of the earlier front, or of the same one where it is less crowded.
fn tournament<'a>(ranked: &'a [Ranked], random: &mut Random) -> &'a Individual {
    let [one, other] = [(); 2].map(|()| &ranked[random.uniform(0..ranked.len())]);
    let order = one.front.cmp(&other.front).then(other.crowding.total_cmp(&one.crowding));
    let is_first = match order {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => random.unit() < 0.5,
    };
    if is_first { &one.individual } else { &other.individual }
}

/// Returns so many of the individuals: whole fronts, and of the last one those that are least crowded.
fn survivors(individuals: Vec<Individual>, count: usize) -> Vec<Ranked> {
    let objectives: Vec<&[f64]> = individuals.iter().map(|individual| &*individual.objectives).collect();
    let mut places = Vec::new();
    for (number, front) in fronts(&objectives).into_iter().enumerate() {
        let crowding = crowding(&objectives, &front);
        let mut front: Vec<(usize, usize, f64)> =
            front.into_iter().zip(crowding).map(|(place, crowding)| (place, number, crowding)).collect();
        if places.len() + front.len() > count {
            front.sort_by(|(_, _, one), (_, _, other)| other.total_cmp(one));
            front.truncate(count - places.len());
        }
        places.extend(front);
        if places.len() == count {
            break;
        }
    }
    let ranked = places.into_iter().map(|(place, front, crowding)| {
        let individual = individuals[place].clone();
        Ranked { individual, front, crowding }
    });
    ranked.collect()
}

/// Returns the fronts: places that no other one dominates, then those that only these dominate, and so on.
fn fronts(objectives: &[&[f64]]) -> Vec<Vec<usize>> {
    let count = objectives.len();
    let mut dominated: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut dominators = vec![0_usize; count];
    for one in 0..count {
        for other in 0..count {
            if dominates(objectives[one], objectives[other]) {
                dominated[one].push(other);
                dominators[other] += 1;
            }
        }
    }
    let mut fronts = Vec::new();
    let mut front: Vec<usize> = (0..count).filter(|&place| dominators[place] == 0).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for &place in &front {
            for &other in &dominated[place] {
                dominators[other] -= 1;
                if dominators[other] == 0 {
                    next.push(other);
                }
            }
        }
        next.sort_unstable();
        fronts.push(std::mem::replace(&mut front, next));
    }
    fronts
}

/// Returns how far the neighbours of each of a front are apart, over all objectives; those at an end have no bound.
fn crowding(objectives: &[&[f64]], front: &[usize]) -> Vec<f64> {
    let mut distances = vec![0.0; front.len()];
    let Some(&any) = front.first() else { return distances };
    let mut order: Vec<usize> = (0..front.len()).collect();
    for (objective, _) in objectives[any].iter().enumerate() {
        let of = |at: usize| objectives[front[at]][objective];
        order.sort_by(|&one, &other| of(one).total_cmp(&of(other)).then(one.cmp(&other)));
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { continue };
        let range = of(last) - of(first);
        // What is the same for all tells none apart.
        if range <= 0.0 {
            continue;
        }
        distances[first] = f64::INFINITY;
        distances[last] = f64::INFINITY;
        for around in order.windows(3) {
            distances[around[1]] += (of(around[2]) - of(around[0])) / range;
        }
    }
    distances
}

fn lexicographic(one: &[f64], other: &[f64]) -> Ordering {
    let unequal = one.iter().zip(other).map(|(one, other)| one.total_cmp(other)).find(|order| order.is_ne());
    unequal.unwrap_or_else(|| one.len().cmp(&other.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn search(generations: usize, seed: u64) -> Nsga2 {
        Nsga2 { population: 60, generations, seed, ..Nsga2::default() }
    }

    /// Schaffer's first problem: x² and (x - 2)², of which all x from 0 to 2 are optimal.
    #[test]
    fn the_front_of_schaffer_is_found_and_covered() {
        let x = |genes: &[f64]| -10.0 + 20.0 * genes[0];
        let objectives = |genes: &Vec<f64>| vec![-x(genes).powi(2), -(x(genes) - 2.0).powi(2)];
        let found = search(60, 1).maximise(1, &[], |all| all.iter().map(objectives).collect());
        let places: Vec<f64> = found.iter().map(|individual| x(&individual.genes)).collect();
        assert!(places.iter().all(|x| (-0.01..=2.01).contains(x)), "{places:?}");
        // In the order of their genes, neighbours are close: no part of the front is missing.
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        assert!(places[0] < 0.1 && places[places.len() - 1] > 1.9 && gaps < 0.2, "{gaps}: {places:?}");
    }

    /// ZDT1 with ten variables: the front has g = 1, so f2 = 1 - √f1.
    #[test]
    fn the_front_of_zdt1_is_found() {
        let objectives = |genes: &Vec<f64>| {
            let g = 1.0 + 9.0 * genes[1..].iter().sum::<f64>() / (genes.len() - 1) as f64;
            vec![-genes[0], -g * (1.0 - (genes[0] / g).sqrt())]
        };
        let evaluate = |all: &[Vec<f64>]| all.iter().map(objectives).collect();
        // How far individuals are above the front.
        let away = |found: &[Individual]| -> Vec<f64> {
            let away = |individual: &Individual| {
                let [f1, f2] = [-individual.objectives[0], -individual.objectives[1]];
                f2 - (1.0 - f1.sqrt())
            };
            found.iter().map(away).collect()
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let found = search(250, 2).maximise(10, &[], evaluate);
        let far = away(&found);
        assert!(mean(&far) < 0.01 && far.iter().all(|away| (-1e-9..0.05).contains(away)), "{far:?}");
        assert!(found.len() > 40, "{}", found.len());
        let f1: Vec<f64> = found.iter().map(|individual| individual.genes[0]).collect();
        assert!(f1[0] < 0.01 && f1[f1.len() - 1] > 0.95, "{f1:?}");
        // Chance alone is far away.
        assert!(mean(&away(&search(0, 2).maximise(10, &[], evaluate))) > 0.5);
    }

    #[test]
    fn a_seed_fixes_the_search() {
        let objectives = |genes: &Vec<f64>| vec![genes[0] - genes[1], genes[1] * genes[2]];
        let found = |seed| search(5, seed).maximise(3, &[], |all| all.iter().map(objectives).collect());
        assert_eq!(found(7), found(7));
        assert_ne!(found(7), found(8));
    }

    #[test]
    fn the_first_generation_has_what_the_search_starts_with() {
        let objectives = |genes: &Vec<f64>| vec![genes[0], 1.0 - genes[0]];
        let found = search(0, 1).maximise(1, &[vec![0.25]], |all| all.iter().map(objectives).collect());
        assert!(found.iter().any(|individual| individual.genes == [0.25]));
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        /// Fronts by definition: what is in a front is dominated by something of each front before, and by nothing of its own.
        #[test]
        fn fronts_are_those_of_the_definition(
            objectives in proptest::collection::vec(proptest::collection::vec(0..4_u8, 3), 0..24),
        ) {
            let objectives: Vec<Vec<f64>> =
                objectives.iter().map(|all| all.iter().map(|&one| f64::from(one)).collect()).collect();
            let slices: Vec<&[f64]> = objectives.iter().map(Vec::as_slice).collect();
            let fronts = fronts(&slices);
            prop_assert_eq!(fronts.iter().map(Vec::len).sum::<usize>(), objectives.len());
            for (number, front) in fronts.iter().enumerate() {
                for &place in front {
                    let is_dominated_in =
                        |front: &Vec<usize>| front.iter().any(|&other| dominates(slices[other], slices[place]));
                    prop_assert!(!is_dominated_in(front));
                    prop_assert!(number == 0 || is_dominated_in(&fronts[number - 1]));
                }
            }
        }

        #[test]
        fn children_stay_within_bounds(seed in 0..10_000_u64, genes in proptest::collection::vec((0.0..=1.0, 0.0..=1.0), 1..9)) {
            let mut random = Random::from_seed(seed);
            let (one, other): (Vec<f64>, Vec<f64>) = genes.into_iter().unzip();
            let of = |genes: &Vec<f64>| Individual { genes: genes.clone(), objectives: Vec::new() };
            let settings = Nsga2 { crossover: 1.0, ..Nsga2::default() };
            for child in settings.crossed([&of(&one), &of(&other)], &mut random) {
                let child = settings.mutated(child, &mut random);
                prop_assert!(child.iter().all(|gene| (0.0..=1.0).contains(gene)), "{:?}", child);
            }
        }
    }

    #[test]
    fn powers_are_those_of_the_platform() {
        for base in [1e-300, 1e-17, 0.3, 0.999, 1.0, 1.5, 2e14] {
            for exponent in [-21.0_f64, -0.5, 1.0 / 21.0, 1.0, 21.0] {
                let (ours, its) = (power(base, exponent), base.powf(exponent));
                // What is too small for a normal number may be 0.
                let is_close = (ours - its).abs() <= 1e-12 * its || its < f64::MIN_POSITIVE && ours < f64::MIN_POSITIVE;
                assert!(ours == its || is_close, "{base}^{exponent}: {ours} for {its}");
            }
        }
        assert_eq!((power(0.0, 21.0), power(1e-310, 0.5)), (0.0, 0.0));
    }

    #[test]
    fn the_ends_of_a_front_are_the_least_crowded() {
        let objectives = [[0.0, 4.0], [1.0, 3.0], [1.5, 2.5], [4.0, 0.0]];
        let slices: Vec<&[f64]> = objectives.iter().map(|one| &one[..]).collect();
        let crowding = crowding(&slices, &[0, 1, 2, 3]);
        assert!(crowding[0].is_infinite() && crowding[3].is_infinite());
        assert!((crowding[1] - 0.75).abs() < 1e-12 && (crowding[2] - 1.5).abs() < 1e-12, "{crowding:?}");
    }
}
