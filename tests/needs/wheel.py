"""Makes a wheel of metadata that maturin wrote and of a program: `wheel.py METADATA PROGRAM FOLDER`."""

import pathlib
import sys
import zipfile

metadata, program, folder = map(pathlib.Path, sys.argv[1:])
name = metadata.name.removesuffix(".dist-info")
tag = next(line for line in (metadata / "WHEEL").read_text().splitlines() if line.startswith("Tag: "))[5:]
files = {path.relative_to(metadata.parent).as_posix(): path for path in metadata.rglob("*") if path.is_file()}
files[f"{name}.data/scripts/{program.name}"] = program
record = f"{name}.dist-info/RECORD"
with zipfile.ZipFile(folder / f"{name}-{tag}.whl", "w") as wheel:
    for inside, path in files.items():
        wheel.write(path, inside)
    wheel.writestr(record, "".join(f"{inside},,\n" for inside in [*files, record]))
