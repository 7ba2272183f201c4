"""Validates bills of materials: CycloneDX by its published JSON schema, SPDX by the validator of its project."""
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

cyclonedx, spdx = sys.argv[1:]
with open(cyclonedx, encoding="utf-8") as file:
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
faults = [f"{error.data.json_path} {error.data.validator}"] if error else []
faults += [message.validation_message for message in validate_full_spdx_document(parse_file(spdx))]
print("\n".join(faults))
sys.exit(1 if faults else 0)
