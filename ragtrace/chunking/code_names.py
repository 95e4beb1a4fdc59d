"""The names of definitions, as a reader would say them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

# What only stands around a definition, and the field or the kind of child that it is in.
_AROUND = {
    "ambient_declaration": "",
    "decorated_definition": "definition",
    "export_statement": "declaration",
    "expression_statement": "",
    "lexical_declaration": "",
    "linkage_specification": "",
    "template_declaration": "",
    "type_declaration": "",
    "variable_declaration": "",
}
_NAMED = frozenset(
    (
        *("function_definition", "class_definition", "type_alias_statement"),
        *("function_declaration", "generator_function_declaration", "class_declaration"),
        *("method_definition", "abstract_class_declaration", "interface_declaration"),
        *("enum_declaration", "type_alias_declaration", "internal_module", "module"),
        *("method_declaration", "constructor_declaration", "compact_constructor_declaration"),
        *("record_declaration", "annotation_type_declaration", "type_spec", "type_alias"),
        *("function_item", "struct_item", "enum_item", "union_item", "trait_item", "impl_item"),
        *("mod_item", "macro_definition", "struct_specifier", "union_specifier"),
        *("enum_specifier", "class_specifier", "namespace_definition"),
    )
)
_FUNCTIONS = frozenset(
    ("arrow_function", "function_expression", "generator_function", "class", "function")
)
_DEEPEST = 10


def name_of(nodes: Iterable["Node"]) -> str:
    """Return the name of the first definition among the nodes, or nothing.

    What a method in Go belongs to is part of its name; an implementation in Rust is named after
    its type.
    """
    for node in nodes:
        found = _definition(node)
        if found is not None:
            return _name(found)
    return ""


def _definition(node: "Node") -> "Node | None":
    """Return the definition that a node is, or that stands alone in it."""
    inner: Node | None = node
    for _ in range(_DEEPEST):
        if inner is None or inner.type in _NAMED:
            return inner
        if inner.type == "variable_declarator":
            value = inner.child_by_field_name("value")
            return inner if value is not None and value.type in _FUNCTIONS else None
        field = _AROUND.get(inner.type)
        if field is None:
            return None
        if field:
            inner = inner.child_by_field_name(field)
        else:
            inner = inner.named_children[-1] if inner.named_children else None
    return None


def _name(definition: "Node") -> str:
    found = definition.child_by_field_name("name") or definition.child_by_field_name("type")
    if definition.type == "function_definition" and definition.child_by_field_name("declarator"):
        found = _declared(definition)
    name = _text(found).strip("()*& ")
    receiver = definition.child_by_field_name("receiver")
    if receiver is not None:
        owner = _text(receiver).strip("()").split()[-1:]
        name = ".".join([*(word.lstrip("*").partition("[")[0] for word in owner), name])
    return name


def _declared(definition: "Node") -> "Node | None":
    """Return the name inside the declarators of C."""
    found: Node | None = definition
    for _ in range(_DEEPEST):
        inner = found.child_by_field_name("declarator") if found else None
        if inner is None:
            return found
        found = inner
    return None


def _text(node: "Node | None") -> str:
    if node is None or node.text is None:
        return ""
    return " ".join(node.text.decode(errors="replace").split())
