"""ROS bags (1 and 2, .bag, .db3, .mcap, or a bag's directory) as columns.

A column is named by topic and field, `/ft_sensor.wrench.force.x`; `TOPIC.stamp` is the header's
time [s], or the bag's own where a message has no header.
"""

from collections import defaultdict
from functools import reduce
from pathlib import Path

import numpy as np

from stiction._base.errors import InputError, unknown
from stiction.tables.table import Table


def read_bag(path: Path, wanted: list[str]) -> Table:
    """The wanted columns, each as long as its topic."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise InputError("ROS bags need rosbags: pip install 'stiction[logs]'") from None
    by_topic: dict[str, list[str]] = defaultdict(list)
    for name in wanted:
        topic, dot, fields = name.partition(".")
        if not dot:
            raise InputError(f"column `{name}` of a bag must read /topic.field, got no field")
        by_topic[topic].append(fields)
    columns: dict[str, list[float]] = defaultdict(list)
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        known = {c.topic for c in reader.connections}
        for topic in by_topic:
            if topic not in known:
                raise unknown(f"topic in '{path.name}'", topic, known)
        chosen = [c for c in reader.connections if c.topic in by_topic]
        for connection, nanoseconds, raw in reader.messages(connections=chosen):
            message = reader.deserialize(raw, connection.msgtype)
            for fields in by_topic[connection.topic]:
                value = _value(message, fields, nanoseconds, connection.topic)
                columns[f"{connection.topic}.{fields}"].append(value)
    return Table(path, {name: np.asarray(values) for name, values in columns.items()})


def _value(message, fields: str, nanoseconds: int, topic: str) -> float:
    if fields == "stamp":
        header = getattr(message, "header", None)
        if header is None:
            return nanoseconds * 1e-9
        return header.stamp.sec + header.stamp.nanosec * 1e-9
    try:
        return float(reduce(getattr, fields.split("."), message))
    except (AttributeError, TypeError):
        raise InputError(
            f"column `{topic}.{fields}` must name a number in the messages of '{topic}'"
        ) from None
