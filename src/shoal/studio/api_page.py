"""The page of the API: what OpenAPI says, as one page of HTML that loads nothing."""

from typing import Any

from shoal.report.compiled_templates import page_style
from shoal.studio.walk import templates


def api_page(description: dict[str, Any]) -> str:
    """The page of an API that is described by OpenAPI."""
    calls = [
        {
            "verb": verb.upper(),
            "path": path,
            "summary": call.get("summary", ""),
            "given": [
                (one["name"], one["in"], one.get("required", False)) for one in call.get("parameters", ())
            ],
            "body": _shape(description, call.get("requestBody", {})),
            "answer": _shape(description, call.get("responses", {}).get("200", {})),
        }
        for path, verbs in description["paths"].items()
        for verb, call in verbs.items()
    ]
    page = templates().get_template("api.html.j2")
    return page.render(calls=calls, about=description["info"], style=page_style())


def _shape(description: dict[str, Any], holder: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The fields of a body: name, type, and what it is."""
    schema = holder.get("content", {}).get("application/json", {}).get("schema", {})
    schema = schema.get("items", schema)
    name = schema.get("$ref", "").rpartition("/")[2]
    fields = description.get("components", {}).get("schemas", {}).get(name, {}).get("properties", {})
    return [(field, _type(facts), facts.get("description", "")) for field, facts in fields.items()]


def _type(facts: dict[str, Any]) -> str:
    kinds = [one.get("type", "") for one in facts.get("anyOf", ())] or [facts.get("type", "")]
    words = {"null": "or nothing", "integer": "whole number", "array": "list", "boolean": "true or false"}
    return " ".join(words.get(kind, kind) for kind in kinds)
