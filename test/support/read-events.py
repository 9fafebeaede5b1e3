"""Prints what TensorBoard itself reads in a directory of event files, as JSON: scalars and histograms by tag."""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "histograms": 0})
events.Reload()
tags = events.Tags()
print(
    json.dumps(
        {
            "scalars": {
                tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)]
                for tag in tags["scalars"]
            },
            "histograms": {
                tag: [
                    [e.step, e.histogram_value.num, e.histogram_value.min]
                    for e in events.Histograms(tag)
                ]
                for tag in tags["histograms"]
            },
        }
    )
)
