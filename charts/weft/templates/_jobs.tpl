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
{{- $labels := mergeOverwrite (deepCopy .Values.commonLabels) (default (dict) $pod.podLabels) -}}
{{- /* As with other pods: what labels for all have under names that it sets itself is not for these. */ -}}
{{- range (.Files.Get "files/job-names.json" | fromJson).labels }}{{ $_ := unset $labels . }}{{ end -}}
{{- $_ := set $pod "podLabels" $labels -}}
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
