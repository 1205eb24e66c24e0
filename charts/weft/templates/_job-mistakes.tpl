{{/* What a list of texts has twice, as a list in YAML. */}}
{{- define "weft.twice" -}}
{{- $seen := list -}}
{{- $twice := list -}}
{{- range . -}}
{{- if has . $seen }}{{ $twice = append $twice . }}{{ end -}}
{{- $seen = append $seen . -}}
{{- end -}}
{{- toYaml (uniq $twice) -}}
{{- end -}}

{{/* A folder with its closing slash, where it is in the image: /var/run is a link there. */}}
{{- define "weft.placed" -}}
{{- regexReplaceAll "^/var/run/" (printf "%s/" (clean . | trimSuffix "/")) "/run/" -}}
{{- end -}}

{{/* Whose mounts in pods of Jobs a mount would hide, or lie in, as a list in YAML. Argument: path, names. */}}
{{- define "weft.hiddenMounts" -}}
{{- $hidden := list -}}
{{- $place := include "weft.placed" .path -}}
{{- $writable := .names.writablePaths -}}
{{- range concat .names.paths $writable -}}
{{- $own := include "weft.placed" . -}}
{{- if or (hasPrefix $place $own) (and (hasPrefix $own $place) (not (has . $writable))) }}{{ $hidden = append $hidden . }}{{ end -}}
{{- end -}}
{{- toYaml $hidden -}}
{{- end -}}

{{/*
What is wrong with what the operator is told of pods of Jobs, each on a line: it would not start. What a single value can
tell is in the schema of the values. Argument: root.
*/}}
{{- define "weft.jobMistakes" -}}
{{- $jobs := include "weft.jobValues" . | fromYaml -}}
{{- $names := .Files.Get "files/job-names.json" | fromJson -}}
{{- $variables := $names.variables -}}
{{- if or .Values.extraCA.configMap .Values.extraCA.secret }}{{ $variables = append $variables $names.caVariable }}{{ end -}}
{{- $from := dict -}}
{{- range $name := list "extraEnv" "extraVolumes" "extraVolumeMounts" "hostAliases" "dnsPolicy" -}}
{{- $isDefault := kindIs "invalid" (get $.Values.scoringOperator.jobs $name) -}}
{{- $_ := set $from $name (printf "%s.%s" ($isDefault | ternary "defaults" "scoringOperator.jobs") $name) -}}
{{- end -}}
{{- range $name, $key := dict "extraEnv" "name" "extraVolumes" "name" "extraVolumeMounts" "mountPath" "hostAliases" "ip" -}}
{{- $keys := list -}}
{{- range get $jobs $name }}{{ $keys = append $keys (get . $key) }}{{ end -}}
{{- range include "weft.twice" $keys | fromYamlArray }}{{ get $from $name }} has the {{ $key }} {{ . }} twice: pods of Jobs would be refused
{{ end -}}
{{- end -}}
{{- range $name := $names.labels -}}
{{- if not (kindIs "invalid" (index (default (dict) $.Values.scoringOperator.jobs.podLabels) $name)) }}scoringOperator.jobs.podLabels has {{ $name }}, which the operator sets in pods of Jobs: leave it out
{{ end -}}
{{- end -}}
{{- if and (eq (default "" $jobs.dnsPolicy) "None") (not (default (dict) $jobs.dnsConfig).nameservers) }}{{ $from.dnsPolicy }} is None, so that pods of Jobs need scoringOperator.jobs.dnsConfig.nameservers, or those of defaults.dnsConfig
{{ end -}}
{{- range $jobs.extraEnv -}}
{{- $instead := eq .name "LOG_LEVEL" | ternary "set scoringOperator.logLevel, or scoringOperator.settings.JOB_LOG_LEVEL for Jobs alone, instead" "leave it out" -}}
{{- if has .name $variables }}{{ $from.extraEnv }} has {{ .name }}, which the operator sets in pods of Jobs: {{ $instead }}, or give scoringOperator.jobs.extraEnv a list without it
{{ end -}}
{{- end -}}
{{- $volumes := list -}}
{{- range $jobs.extraVolumes -}}
{{- $volumes = append $volumes .name -}}
{{- if has .name $names.volumes }}{{ $from.extraVolumes }} has {{ .name }}, as a volume of the operator's is called in pods of Jobs: call it otherwise, or give scoringOperator.jobs.extraVolumes a list without it
{{ end -}}
{{- end -}}
{{- range $mount := $jobs.extraVolumeMounts -}}
{{- if not (has .name $volumes) }}{{ $from.extraVolumeMounts }} mounts {{ .name }}, which is not in {{ $from.extraVolumes }}, so that pods of Jobs lack it
{{ end -}}
{{- if or (not (hasPrefix "/" .mountPath)) (contains ":" .mountPath) }}{{ $from.extraVolumeMounts }} has {{ .mountPath }}, which is no path for pods of Jobs: it must begin with / and have no colon
{{ else -}}
{{- with include "weft.hiddenMounts" (dict "path" .mountPath "names" $names) | fromYamlArray }}{{ $from.extraVolumeMounts }} has {{ $mount.mountPath }}, where the operator mounts {{ join ", " . }} in pods of Jobs: mount it elsewhere, or give scoringOperator.jobs.extraVolumeMounts a list without it
{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
