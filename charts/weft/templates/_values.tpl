{{/*
What null means, wherever a value can stand. Of a key that values.yaml has, Helm leaves nothing where it is null: a look
into files/values.json, which is the same, tells what is missing. Null under any other key is there as it was given.
*/}}

{{/*
Makes the values whole, in their place: to be included by every template before it looks at one. A key that null has
taken away has its default again, for nothing works without; resources, contexts, probes and the like, which Kubernetes
can do without, are empty then, and what is in them is gone. Argument: root.
*/}}
{{- define "weft.values" -}}
{{- if not (hasKey . "weftValuesAreWhole") -}}
{{- $_ := set . "weftValuesAreWhole" true -}}
{{- $defaults := .Files.Get "files/values.json" | fromJson -}}
{{- include "weft.fillIn" (dict "values" .Values "defaults" $defaults "path" "" "inherited" (dict) "all" $defaults.defaults) -}}
{{- include "weft.prune" (omit .Values "global" "services" "gateway" "scoringOperator" "scoringPrograms" "extraObjects") -}}
{{- /* Of these, what is merged over the defaults keeps its nulls until then. */ -}}
{{- include "weft.prune" (list .Values.gateway.ingress .Values.gateway.route .Values.scoringOperator.serviceAccount .Values.scoringOperator.jobServiceAccount) -}}
{{- end -}}
{{- end -}}

{{/*
What null takes away, rather than to leave it as it is by default; and all that is in it.
*/}}
{{- define "weft.removable" -}}
resources podSecurityContext securityContext startupProbe readinessProbe livenessProbe strategy labels minAvailable targetCPUUtilizationPercentage targetMemoryUtilizationPercentage
{{- end -}}

{{/*
Fills in what is missing in values. Argument: values, defaults, path, inherited (what null leaves to `defaults`, being
merged over it), all (that of the whole of `defaults`).
*/}}
{{- define "weft.fillIn" -}}
{{- $values := .values -}}
{{- $inherited := .inherited -}}
{{- $all := .all -}}
{{- $path := .path -}}
{{- $removable := include "weft.removable" . | splitList " " -}}
{{- range $name, $default := .defaults -}}
  {{- $value := index $values $name -}}
  {{- $isMap := kindIs "map" $default -}}
  {{- if kindIs "invalid" $value -}}
    {{- /* A part such as gateway.service has values that no other has. */ -}}
    {{- $isPart := and $isMap (not (empty $default)) (not (has $name $removable)) -}}
    {{- if or (and (hasKey $inherited $name) (not $isPart)) (kindIs "invalid" $default) (and (has $name $removable) (not $isMap)) -}}
      {{- $_ := set $values $name nil -}}
    {{- else if has $name $removable -}}
      {{- $_ := set $values $name dict -}}
    {{- else -}}
      {{- $_ := set $values $name (deepCopy $default) -}}
    {{- end -}}
  {{- else if and $isMap (has $name $removable) -}}
    {{- include "weft.markNulls" (dict "values" $value "defaults" $default) -}}
  {{- else if $isMap -}}
    {{- $at := printf "%s.%s" $path $name -}}
    {{- $isOver := regexMatch "^\\.(services\\.[a-z]+(\\.(ingest|serve))?|gateway|scoringOperator(\\.jobs)?)$" $at -}}
    {{- $below := $isOver | ternary $all (index $inherited $name | default dict) -}}
    {{- include "weft.fillIn" (dict "values" $value "defaults" $default "path" $at "inherited" $below "all" $all) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Has null stand again where Helm has dropped it. Argument: values, defaults. */}}
{{- define "weft.markNulls" -}}
{{- $values := .values -}}
{{- range $name, $default := .defaults -}}
{{- $value := index $values $name -}}
{{- if kindIs "invalid" $value }}{{ $_ := set $values $name nil }}
{{- else if and (kindIs "map" $value) (kindIs "map" $default) }}{{ include "weft.markNulls" (dict "values" $value "defaults" $default) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Drops every null of maps, in their place and however deep. Argument: a map or a list. */}}
{{- define "weft.prune" -}}
{{- $all := . -}}
{{- $isMap := kindIs "map" . -}}
{{- range $name, $value := . -}}
{{- if or (kindIs "map" $value) (kindIs "slice" $value) }}{{ include "weft.prune" $value }}
{{- else if and $isMap (kindIs "invalid" $value) }}{{ $_ := unset $all $name }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Merges values over others, in the place of these. In what Kubernetes takes as it is, null takes an entry away; elsewhere,
where something has to stand, it leaves what is there. Argument: onto, values, level (`component`; empty: an entry is
Kubernetes').
*/}}
{{- define "weft.mergeOnto" -}}
{{- $onto := .onto -}}
{{- $level := .level -}}
{{- $removable := include "weft.removable" . | splitList " " -}}
{{- range $name, $value := .values -}}
  {{- $there := index $onto $name -}}
  {{- if kindIs "invalid" $value -}}
    {{- if or (not $level) (and (ne $level "component") (has $name $removable)) }}{{ $_ := unset $onto $name }}{{ end -}}
  {{- else if and (kindIs "map" $value) (kindIs "map" $there) -}}
    {{- $isOurs := and (ne $level "") (has $name (list "service" "pdb" "autoscaling" "keda")) -}}
    {{- include "weft.mergeOnto" (dict "onto" $there "values" $value "level" ($isOurs | ternary $name "")) -}}
  {{- else -}}
    {{- $_ := set $onto $name (deepCopy $value) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Values of a component or of Jobs, over the defaults, as a map in YAML. Argument: a list of maps, each over those before it. */}}
{{- define "weft.overDefaults" -}}
{{- $merged := dict -}}
{{- range . }}{{ include "weft.mergeOnto" (dict "onto" $merged "values" . "level" "component") }}{{ end -}}
{{- include "weft.prune" $merged -}}
{{- toYaml $merged -}}
{{- end -}}
