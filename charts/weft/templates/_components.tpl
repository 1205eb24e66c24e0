{{/*
All components of the release as a map in YAML, by name. Each has: service (whose program it runs), role (ingest, serve
or none), main (the program), port and portName (what it is called at), health (its name for gRPC health; empty: it is
asked over HTTP), isOne (there must be only one process), scales (more processes do more), account, and values (its own,
over those of the service, over the defaults).
*/}}
{{- define "weft.components" -}}
{{- /* Asked for many times, and always the same. */ -}}
{{- if not (hasKey . "weftComponents") }}{{ $_ := set . "weftComponents" (include "weft.mergedComponents" .) }}{{ end -}}
{{- .weftComponents -}}
{{- end -}}

{{- define "weft.mergedComponents" -}}
{{- $all := dict -}}
{{- $ports := dict "block" 7001 "tx" 7002 "nft" 7003 "richlist" 7004 -}}
{{- $account := include "weft.serviceAccountName" . -}}
{{- range $service := list "block" "tx" "nft" "richlist" -}}
  {{- $own := get $.Values.services $service -}}
  {{- $isOn := eq $service "nft" | ternary $own.enabled true -}}
  {{- if eq $service "richlist" }}{{ $isOn = include "weft.hasRichlist" $ | eq "true" }}{{ end -}}
  {{- if $isOn -}}
    {{- range $role := list "ingest" "serve" -}}
      {{- $values := include "weft.overDefaults" (list $.Values.defaults (omit $own "enabled" "ingest" "serve") (get $own $role)) | fromYaml -}}
      {{- $component := dict "service" $service "role" $role "main" (printf "dist/services/%s/main.js" $service) -}}
      {{- $_ := set $component "port" (get $ports $service) -}}
      {{- $_ := set $component "portName" "grpc" -}}
      {{- $_ := set $component "health" $service -}}
      {{- $_ := set $component "isOne" (eq $role "ingest") -}}
      {{- $_ := set $component "scales" (eq $role "serve") -}}
      {{- $_ := set $component "account" $account -}}
      {{- $_ := set $component "values" $values -}}
      {{- $_ := set $all (eq $role "ingest" | ternary (printf "%s-ingest" $service) $service) $component -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $values := include "weft.overDefaults" (list .Values.defaults (omit .Values.gateway "ingress" "route")) | fromYaml -}}
{{- $_ := set $all "gateway" (dict "service" "gateway" "role" "" "main" "dist/services/gateway/main.js" "port" 8080 "portName" "http" "health" "" "isOne" false "scales" true "account" $account "values" $values) -}}
{{- if include "weft.hasOperator" . -}}
  {{- $values := include "weft.overDefaults" (list .Values.defaults (omit .Values.scoringOperator "enabled" "rbac" "serviceAccount" "jobServiceAccount" "jobs" "watchNamespaces" "watchAllNamespaces" "jobLeaseNamespace")) | fromYaml -}}
  {{- $_ := set $all "scoring-operator" (dict "service" "scoring-operator" "role" "" "main" "dist/services/scoring-operator/main.js" "port" 0 "portName" "" "health" "" "isOne" false "scales" false "account" (include "weft.operatorAccountName" .) "values" $values) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* gRPC address of a service by which all its pods are found. Argument: root, name (of the component), port. */}}
{{- define "weft.address" -}}
dns:///{{ include "weft.fullname" .root }}-{{ .name }}:{{ .port }}
{{- end -}}

{{/* How long a component serves new calls after SIGTERM, in milliseconds. What writes has no other pod to send them to. Argument: a component. */}}
{{- define "weft.drainMs" -}}
{{ .isOne | ternary 0 .values.drainMs }}
{{- end -}}

{{/*
Name of the Deployment or StatefulSet of a component. Kubernetes puts that of a StatefulSet, with a hash, into a label of
pods, which may have 63 characters: a longer one is cut. Argument: root, name, component.
*/}}
{{- define "weft.workloadName" -}}
{{- $name := printf "%s-%s" (include "weft.fullname" .root) .name -}}
{{- if and .component.isOne (gt (len $name) 52) -}}
{{- printf "%s-%s-%s" (include "weft.fullname" .root | trunc (int (sub 46 (len .name))) | trimSuffix "-") (sha256sum $name | trunc 4) .name -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}

{{/* Whether a component is to have no pod at all. Argument: a component. */}}
{{- define "weft.isPaused" -}}
{{- if not (and .scales .values.autoscaling.enabled) -}}
{{- if eq (int .values.replicas) 0 }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* Whether a component can have more than one pod. Argument: a component. */}}
{{- define "weft.isMany" -}}
{{- if not .isOne -}}
{{- if and .scales .values.autoscaling.enabled -}}
{{- if gt (int .values.autoscaling.maxReplicas) 1 }}true{{ end -}}
{{- else if gt (int .values.replicas) 1 }}true{{ end -}}
{{- end -}}
{{- end -}}
