{{/* What a map gives, in YAML: null leaves it to another one. */}}
{{- define "weft.given" -}}
{{- $given := dict -}}
{{- range $name, $value := . -}}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $given $name $value }}{{ end -}}
{{- end -}}
{{- toYaml $given -}}
{{- end -}}

{{/* What pods of scoring Jobs have, as a map in YAML: that of the defaults, unless it is said of them. Argument: root. */}}
{{- define "weft.jobValues" -}}
{{- $own := omit .Values.scoringOperator.jobs "clickhouseSecret" -}}
{{- $pod := pick .Values.defaults "resources" "podSecurityContext" "securityContext" "podLabels" "podAnnotations" "nodeSelector" "tolerations" "affinity" "priorityClassName" "runtimeClassName" "schedulerName" "hostAliases" "dnsPolicy" "dnsConfig" "extraEnv" "extraEnvFrom" "extraVolumes" "extraVolumeMounts" -}}
{{- include "weft.overDefaults" (list $pod $own) -}}
{{- end -}}

{{/* What the operator is told of them, as a map in YAML. Argument: root. */}}
{{- define "weft.jobSettings" -}}
{{- $pod := include "weft.jobValues" . | fromYaml -}}
{{- $_ := set $pod "podLabels" (mergeOverwrite (deepCopy .Values.commonLabels) (default (dict) $pod.podLabels)) -}}
{{- $_ := set $pod "podAnnotations" (mergeOverwrite (deepCopy .Values.commonAnnotations) (default (dict) $pod.podAnnotations)) -}}
{{- $told := dict "JOB_IMAGE_PULL_POLICY" .Values.image.pullPolicy -}}
{{- $_ := set $told "JOB_POD_SECURITY_CONTEXT" (default (dict) $pod.podSecurityContext) -}}
{{- $_ := set $told "JOB_SECURITY_CONTEXT" (default (dict) $pod.securityContext) -}}
{{- $optional := dict "JOB_RESOURCES" "resources" "JOB_POD_LABELS" "podLabels" "JOB_POD_ANNOTATIONS" "podAnnotations" -}}
{{- $optional = merge $optional (dict "JOB_NODE_SELECTOR" "nodeSelector" "JOB_TOLERATIONS" "tolerations" "JOB_AFFINITY" "affinity") -}}
{{- $optional = merge $optional (dict "JOB_PRIORITY_CLASS" "priorityClassName" "JOB_RUNTIME_CLASS" "runtimeClassName" "JOB_SCHEDULER" "schedulerName") -}}
{{- $optional = merge $optional (dict "JOB_DNS_POLICY" "dnsPolicy" "JOB_DNS_CONFIG" "dnsConfig" "JOB_HOST_ALIASES" "hostAliases") -}}
{{- $optional = merge $optional (dict "JOB_EXTRA_ENV" "extraEnv" "JOB_EXTRA_ENV_FROM" "extraEnvFrom") -}}
{{- $optional = merge $optional (dict "JOB_EXTRA_VOLUMES" "extraVolumes" "JOB_EXTRA_VOLUME_MOUNTS" "extraVolumeMounts") -}}
{{- range $name, $field := $optional -}}
{{- with get $pod $field }}{{ $_ := set $told $name . }}{{ end -}}
{{- end -}}
{{- $secrets := list -}}
{{- range include "weft.imagePullSecrets" . | fromYamlArray }}{{ $secrets = append $secrets .name }}{{ end -}}
{{- with $secrets }}{{ $_ := set $told "JOB_IMAGE_PULL_SECRETS" (join "," .) }}{{ end -}}
{{- range $name, $value := $told -}}
{{- /* Kubernetes would put the operator's own variables in the place of $(NAME), which are the Jobs'. */ -}}
{{- if not (kindIs "string" $value) }}{{ $_ := set $told $name (toJson $value | replace "$" "$$") }}{{ end -}}
{{- end -}}
{{- toYaml $told -}}
{{- end -}}

{{/* What is wrong with it, each on a line: the operator would not start. Argument: root. */}}
{{- define "weft.jobMistakes" -}}
{{- $jobs := include "weft.jobValues" . | fromYaml -}}
{{- $names := .Files.Get "files/job-names.json" | fromJson -}}
{{- $variables := $names.variables -}}
{{- if or .Values.extraCA.configMap .Values.extraCA.secret }}{{ $variables = append $variables $names.caVariable }}{{ end -}}
{{- $from := dict -}}
{{- range $name := list "extraEnv" "extraVolumes" "extraVolumeMounts" -}}
{{- $isDefault := kindIs "invalid" (get $.Values.scoringOperator.jobs $name) -}}
{{- $_ := set $from $name (printf "%s.%s" ($isDefault | ternary "defaults" "scoringOperator.jobs") $name) -}}
{{- end -}}
{{- range $jobs.extraEnv -}}
{{- if has .name $variables }}{{ $from.extraEnv }} has {{ .name }}, which the operator sets in pods of Jobs: leave it out, or give scoringOperator.jobs.extraEnv a list without it
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
{{- range $names.paths -}}
{{- if hasPrefix (printf "%s/" .) (printf "%s/" $mount.mountPath) }}{{ $from.extraVolumeMounts }} has {{ $mount.mountPath }}, where the operator mounts {{ . }} in pods of Jobs: mount it elsewhere, or give scoringOperator.jobs.extraVolumeMounts a list without it
{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
