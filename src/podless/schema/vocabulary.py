"""The keywords of a schema. Programs that declare models import them, so this module imports nothing."""

# In the order of the internal JSONSchemaProps. A zero value follows a "=", and a ":" the Go type of a field whose zero
# value is null.
_FIELDS = """
id="" $schema="" $ref:*string description="" type="" nullable=false format="" title="" default:*JSON maximum:*float64
exclusiveMaximum=false minimum:*float64 exclusiveMinimum=false maxLength:*int64 minLength:*int64 pattern=""
maxItems:*int64 minItems:*int64 uniqueItems=false multipleOf:*float64 enum:[]JSON maxProperties:*int64
minProperties:*int64 required:[]string items:*JSONSchemaPropsOrArray allOf:[]JSONSchemaProps oneOf:[]JSONSchemaProps
anyOf:[]JSONSchemaProps not:*JSONSchemaProps properties:map[string]JSONSchemaProps
additionalProperties:*JSONSchemaPropsOrBool patternProperties:map[string]JSONSchemaProps
dependencies:JSONSchemaDependencies additionalItems:*JSONSchemaPropsOrBool definitions:JSONSchemaDefinitions
externalDocs:*ExternalDocumentation example:*JSON x-kubernetes-preserve-unknown-fields:*bool
x-kubernetes-embedded-resource=false x-kubernetes-int-or-string=false x-kubernetes-list-map-keys:[]string
x-kubernetes-list-type:*string x-kubernetes-map-type:*string x-kubernetes-validations:ValidationRules
"""
FIELDS = _FIELDS.split()
KEYWORDS = frozenset(field.partition("=")[0].partition(":")[0] for field in FIELDS)
