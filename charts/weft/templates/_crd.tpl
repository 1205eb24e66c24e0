{{/* The custom resource as the cluster has it, in YAML; an empty map where it has none, or cannot be asked. */}}
{{- define "weft.crdThere" -}}
{{- lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "scoringprograms.vip.weft.dev" | default dict | toYaml -}}
{{- end -}}

{{/* Whether this release brings the custom resource. The cluster has it once: where another release owns it, that one does. */}}
{{- define "weft.bringsCrd" -}}
{{- if and .Values.crds.enabled (include "weft.hasOperator" .) -}}
{{- $there := include "weft.crdThere" . | fromYaml -}}
{{- $owner := default (dict) (dig "metadata" "annotations" (dict) $there) -}}
{{- $isOurs := and (eq (get $owner "meta.helm.sh/release-name") .Release.Name) (eq (get $owner "meta.helm.sh/release-namespace") .Release.Namespace) -}}
{{- if or (empty $there) $isOurs .Values.crds.takeOwnership }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* Fields that one schema has and another lacks, each on a line. Argument: ours, theirs, path. */}}
{{- define "weft.lackingFields" -}}
{{- $path := .path -}}
{{- $theirs := default (dict) .theirs.properties -}}
{{- range $name, $schema := .ours.properties -}}
{{- if not (hasKey $theirs $name) }}{{ $path }}{{ $name }}
{{ else }}
{{- include "weft.lackingFields" (dict "ours" $schema "theirs" (get $theirs $name) "path" (printf "%s%s." $path $name)) -}}
{{- end -}}
{{- end -}}
{{- with .ours.items -}}
{{- include "weft.lackingFields" (dict "ours" . "theirs" (default (dict) $.theirs.items) "path" $path) -}}
{{- end -}}
{{- end -}}

{{/*
What the custom resource in the cluster lacks, as this release leaves it, each on a line; empty where nothing is. With
crds.enabled=false nobody looks: who installs may have no right to, and Helm would fail.
*/}}
{{- define "weft.crdLacks" -}}
{{- $mayLook := and .Values.crds.enabled (include "weft.hasOperator" .) -}}
{{- $there := dict -}}
{{- if $mayLook }}{{ $there = include "weft.crdThere" . | fromYaml }}{{ end -}}
{{- if and $there (not (include "weft.bringsCrd" .)) -}}
{{- $ours := index (.Files.Get "files/scoringprogram.yaml" | fromYaml).spec.versions 0 -}}
{{- $theirs := dict -}}
{{- range $there.spec.versions }}{{ if eq .name $ours.name }}{{ $theirs = . }}{{ end }}{{ end -}}
{{- if $theirs -}}
{{- include "weft.lackingFields" (dict "ours" (dict "properties" (pick $ours.schema.openAPIV3Schema.properties "spec" "status")) "theirs" $theirs.schema.openAPIV3Schema "path" "") -}}
{{- else }}the version {{ $ours.name }}{{ end -}}
{{- end -}}
{{- end -}}
