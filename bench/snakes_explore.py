"""Explores a place/transition net in PNML with SNAKES for some seconds of processor time, and prints how far it came.

    snakes_explore.py FILE SECONDS
"""

import json
import sys
import time
import xml.etree.ElementTree

from snakes.nets import MultiArc, PetriNet, Place, StateGraph, Transition, Value

SPACE = "{http://www.pnml.org/version-2009/grammar/pnml}"


def read(file):
    root = xml.etree.ElementTree.parse(file).getroot()
    net = PetriNet("net")
    number = lambda element, label, default: int(element.findtext(f"{SPACE}{label}/{SPACE}text", default))
    for place in root.iter(f"{SPACE}place"):
        net.add_place(Place(place.get("id"), [1] * number(place, "initialMarking", 0)))
    for transition in root.iter(f"{SPACE}transition"):
        net.add_transition(Transition(transition.get("id")))
    places = {place.name for place in net.place()}
    for arc in root.iter(f"{SPACE}arc"):
        tokens = [Value(1)] * number(arc, "inscription", 1)
        tokens = tokens[0] if len(tokens) == 1 else MultiArc(tokens)
        if arc.get("source") in places:
            net.add_input(arc.get("source"), arc.get("target"), tokens)
        else:
            net.add_output(arc.get("target"), arc.get("source"), tokens)
    return net


graph = StateGraph(read(sys.argv[1]))
begun, limit = time.process_time(), float(sys.argv[2])
built = graph._build()
markings = 0
for markings, _ in enumerate(built, 1):
    if time.process_time() - begun > limit:
        break
print(json.dumps({"markings": markings, "seconds": time.process_time() - begun}))
