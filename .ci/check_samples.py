"""Judges the samples that nothing here runs, by their schemas: no field is unknown, and none has another type.

    check_samples.py compose FILE SCHEMA    a compose file by the schema of compose, as docker-compose has it
    check_samples.py operators FILE         what Kubernetes has no schema of, by the operators' own models
"""
import json
import sys

import yaml


def compose(path, schema):
    import jsonschema

    sample = yaml.safe_load(open(path))
    # A later addition to the schema, which is of 2021.
    sample.pop("name")
    extensions = {name for name in sample if name.startswith("x-")}
    jsonschema.Draft7Validator(json.load(open(schema))).validate(sample)
    named = {volume.split(":")[0] for service in sample["services"].values() for volume in service.get("volumes", [])}
    made = set(sample["volumes"])
    if {name for name in named if name[0] not in "./"} != made:
        raise SystemExit(f"the volumes that are made are not those that are used: {made ^ named}")
    for name, service in sample["services"].items():
        if missing := set(service.get("depends_on", {})) - set(sample["services"]):
            raise SystemExit(f"{name} waits for what is not there: {missing}")
    print(f"{len(sample['services'])} services, {len(made)} volumes, {len(extensions)} shared part")


def operators(path):
    from cloudcoil.models.keda.v1alpha1 import ScaledObject
    from cloudcoil.models.prometheus_operator.v1 import PodMonitor

    models = {"ScaledObject": ScaledObject, "PodMonitor": PodMonitor}
    found = [one for one in yaml.safe_load_all(open(path)) if one["kind"] in models]
    for one in found:
        # What a model does not know, it drops.
        read = models[one["kind"]].model_validate(one).model_dump(mode="json", by_alias=True, exclude_unset=True)
        if read != one:
            raise SystemExit(f"{one['kind']} has what its schema has not:\n{json.dumps(one)}\n{json.dumps(read)}")
    if {one["kind"] for one in found} != set(models):
        raise SystemExit(f"there is one of these no more: {sorted(models)}")
    print(f"{', '.join(one['kind'] for one in found)}: as their operators read them")


{"compose": compose, "operators": operators}[sys.argv[1]](*sys.argv[2:])
