{{/* Name of the chart in labels. */}}
{{- define "weft.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* What the names of all objects begin with. Short enough for the longest suffix. */}}
{{- define "weft.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "weft.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "weft.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* A number as text without an exponent, and anything else as it is. */}}
{{- define "weft.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/* Several URLs, given as a text or as a list, as a text. */}}
{{- define "weft.urls" -}}
{{- if kindIs "slice" . }}{{ join "," . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}

{{/*
Whether a text is an http(s) URL, as the processes read one; empty where it is not. It may have a password, so no message
shows it, nor does the schema look at it, whose messages would.
*/}}
{{- define "weft.isUrl" -}}
{{- if regexMatch "^https?://([^/?#@[:space:]]*@)?([-._A-Za-z0-9]+|\\[[0-9A-Fa-f:.%]+\\])(:[0-9]{1,5})?([/?][^#[:space:]]*)?$" . }}true{{ end -}}
{{- end -}}

{{/* Labels that select the pods of a component. Argument: root, name (empty: of all components). */}}
{{- define "weft.selector" -}}
{{- $component := empty .name | ternary (dict) (dict "app.kubernetes.io/component" .name) -}}
{{- merge $component (dict "app.kubernetes.io/name" (include "weft.name" .root) "app.kubernetes.io/instance" .root.Release.Name) | toYaml -}}
{{- end -}}

{{/*
Labels of pods: none that changes with the chart's version, which would start all of them anew. Argument: root, name, more
(those of the values).
*/}}
{{- define "weft.podLabels" -}}
{{- $own := include "weft.selector" . | fromYaml -}}
{{- $_ := set $own "app.kubernetes.io/part-of" "weft" -}}
{{- mergeOverwrite (dict) .root.Values.commonLabels (default (dict) .more) $own | toYaml -}}
{{- end -}}

{{/* Labels of an object: what it is selected by is the chart's to say. Argument: root, name, labels (those of the values). */}}
{{- define "weft.labels" -}}
{{- $own := include "weft.selector" . | fromYaml -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- $about := dict "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/part-of" "weft" "helm.sh/chart" $chart -}}
{{- mergeOverwrite (dict) .root.Values.commonLabels (default (dict) .labels) $about $own | toYaml -}}
{{- end -}}

{{/*
Metadata of an object. Argument: root, name (of the component; empty: of all), suffix (of the object's name; default: the
component), labels, annotations, namespace (`-`: none, for objects of the cluster).
*/}}
{{- define "weft.metadata" -}}
{{- $suffix := default .name .suffix -}}
{{- $annotations := merge (dict) (default (dict) .annotations) .root.Values.commonAnnotations -}}
name: {{ default (printf "%s%s" (include "weft.fullname" .root) ($suffix | empty | ternary "" (printf "-%s" $suffix))) .fullname }}
{{- if ne (default "" .namespace) "-" }}
namespace: {{ default .root.Release.Namespace .namespace | quote }}
{{- end }}
labels:
  {{- include "weft.labels" . | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The image of all pods: the digest wins over the tag. */}}
{{- define "weft.image" -}}
{{- $image := .Values.image -}}
{{- $registry := default $image.registry .Values.global.imageRegistry -}}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.repository -}}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default .Chart.AppVersion $image.tag }}{{ end -}}
{{- end -}}

{{/* Secrets for pulling it, as a list in YAML; empty where there are none. */}}
{{- define "weft.imagePullSecrets" -}}
{{- $secrets := list -}}
{{- range concat .Values.global.imagePullSecrets .Values.image.pullSecrets -}}
{{- $secrets = append $secrets (kindIs "map" . | ternary . (dict "name" .)) -}}
{{- end -}}
{{- with $secrets | uniq }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* Names of ServiceAccounts. */}}
{{- define "weft.serviceAccountName" -}}
{{- with .Values.serviceAccount }}{{ default (.create | ternary (include "weft.fullname" $) "default") .name }}{{ end -}}
{{- end -}}

{{- define "weft.operatorAccountName" -}}
{{- with .Values.scoringOperator.serviceAccount -}}
{{ default (.create | ternary (printf "%s-scoring-operator" (include "weft.fullname" $)) "default") .name }}
{{- end -}}
{{- end -}}

{{- define "weft.jobAccountName" -}}
{{- with .Values.scoringOperator.jobServiceAccount -}}
{{ default (.create | ternary (printf "%s-scoring-job" (include "weft.fullname" $)) "default") .name }}
{{- end -}}
{{- end -}}

{{/* Namespaces where Jobs of programs may run, and have their account, as a list in YAML. */}}
{{- define "weft.jobNamespaces" -}}
{{- $own := list .Release.Namespace -}}
{{- with .Values.scoringOperator -}}
{{- toYaml (uniq (.watchAllNamespaces | ternary (concat $own .watchNamespaces) (default $own .watchNamespaces))) -}}
{{- end -}}
{{- end -}}

{{/* Namespace of the Leases of signers. */}}
{{- define "weft.leaseNamespace" -}}
{{- default .Release.Namespace .Values.scoringOperator.jobLeaseNamespace -}}
{{- end -}}

{{/*
End of the name of an object in a namespace: in one of others, releases of the same name must not share it.
Argument: root, suffix, namespace.
*/}}
{{- define "weft.suffixIn" -}}
{{- .suffix }}{{ if ne .namespace .root.Release.Namespace }}-{{ .root.Release.Namespace }}{{ end -}}
{{- end -}}

{{/* The Secrets that hold the node's URLs, and where ClickHouse is. */}}
{{- define "weft.nodeSecret" -}}
{{- default (printf "%s-node" (include "weft.fullname" .)) .Values.node.existingSecret -}}
{{- end -}}

{{- define "weft.clickhouseSecret" -}}
{{- default (printf "%s-clickhouse" (include "weft.fullname" .)) .Values.clickhouse.existingSecret -}}
{{- end -}}

{{/* Who takes ClickHouse from `clickhouse`, having no Secret of its own: by the value that would name one. A list in YAML. */}}
{{- define "weft.clickhouseUsers" -}}
{{- $users := list -}}
{{- range $name, $component := include "weft.components" . | fromYaml -}}
{{- if and (ne $name "gateway") (not $component.values.clickhouseSecret) -}}
{{- $path := empty $component.role | ternary "scoringOperator" (printf "services.%s.%s" $component.service $component.role) -}}
{{- $users = append $users (printf "%s.clickhouseSecret" $path) -}}
{{- end -}}
{{- end -}}
{{- if and (has .Values.migrations.mode (list "hook" "job")) (not .Values.migrations.clickhouseSecret) -}}
{{- $users = append $users "migrations.clickhouseSecret" -}}
{{- end -}}
{{- $jobs := list -}}
{{- range include "weft.programs" . | fromYaml }}{{ if not .clickhouse }}{{ $jobs = append $jobs . }}{{ end }}{{ end -}}
{{- if and $jobs (not .Values.scoringOperator.jobs.clickhouseSecret) -}}
{{- $users = append $users "scoringOperator.jobs.clickhouseSecret" -}}
{{- end -}}
{{- toYaml $users -}}
{{- end -}}

{{/* ScoringPrograms as a map in YAML; null takes away one that an earlier values file has. */}}
{{- define "weft.programs" -}}
{{- $programs := dict -}}
{{- range $name, $spec := .Values.scoringPrograms -}}
{{- if $spec }}{{ $_ := set $programs $name $spec }}{{ end -}}
{{- end -}}
{{- toYaml $programs -}}
{{- end -}}

{{/* Whether the rollup is one of EVM, whether a part of the release is on; empty where it is not. */}}
{{- define "weft.isEvm" -}}
{{- if eq .Values.chain.vm "evm" }}true{{ end -}}
{{- end -}}

{{- define "weft.hasRichlist" -}}
{{- if kindIs "bool" .Values.services.richlist.enabled -}}
{{- if .Values.services.richlist.enabled }}true{{ end -}}
{{- else -}}
{{- include "weft.isEvm" . -}}
{{- end -}}
{{- end -}}

{{- define "weft.hasOperator" -}}
{{- if kindIs "bool" .Values.scoringOperator.enabled -}}
{{- if .Values.scoringOperator.enabled }}true{{ end -}}
{{- else -}}
{{- include "weft.isEvm" . -}}
{{- end -}}
{{- end -}}
