{{/* Volumes with certificates. Argument: root, name (of the component). */}}
{{- define "weft.certificateVolumes" -}}
{{- $root := .root -}}
{{- if and $root.Values.tls.enabled .name }}
- name: tls
  secret:
    secretName: {{ default (printf "%s-%s-tls" (include "weft.fullname" $root) .name) $root.Values.tls.existingSecret }}
    defaultMode: 0440
{{- end }}
{{- with $root.Values.extraCA }}
{{- if or .configMap .secret }}
- name: extra-ca
  {{- if .secret }}
  secret:
    secretName: {{ .secret }}
  {{- else }}
  configMap:
    name: {{ .configMap }}
  {{- end }}
    items: [{ key: {{ .key }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- end -}}

{{- define "weft.certificateMounts" -}}
{{- if and .root.Values.tls.enabled .name }}
- { name: tls, mountPath: /etc/weft/tls, readOnly: true }
{{- end }}
{{- if or .root.Values.extraCA.configMap .root.Values.extraCA.secret }}
- { name: extra-ca, mountPath: /etc/weft/ca, readOnly: true }
{{- end }}
{{- end -}}

{{/* A probe. Argument: component, probe, name (what is asked for: empty is the process itself), path. */}}
{{- define "weft.probe" -}}
{{- if .component.health }}
grpc: { port: 7090{{ with .name }}, service: {{ . }}{{ end }} }
{{- else }}
httpGet: { port: metrics, path: {{ .path }} }
{{- end }}
{{ toYaml .probe }}
{{- end -}}

{{/*
What a writer waits for first, as a list in YAML: that the pod of the Deployment is gone which wrote in earlier versions of
this chart, where the cluster still has it. Helm deletes it after it has made the StatefulSet, and its pod writes until it
ends. Where the chart is rendered without a cluster nothing is known of it: see UPGRADING.md. Argument: root, name, component.
*/}}
{{- define "weft.waitForDeployment" -}}
{{- $root := .root -}}
{{- $values := .component.values -}}
{{- $seconds := 0 -}}
{{- if .component.isOne -}}
{{- with lookup "apps/v1" "Deployment" $root.Release.Namespace (printf "%s-%s" (include "weft.fullname" $root) .name) -}}
{{- if .spec }}{{ $seconds = add 15 (default 30 .spec.template.spec.terminationGracePeriodSeconds) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $seconds }}
- name: wait-for-deployment
  image: {{ include "weft.image" $root }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  args: [--eval, "setTimeout(() => {}, {{ $seconds }}_000)"]
  {{- with $values.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- toYaml $values.securityContext | nindent 4 }}
{{- else }}
[]
{{- end }}
{{- end -}}

{{/* The pod of a component. Argument: root, name, component, components. */}}
{{- define "weft.pod" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $values := $component.values -}}
{{- $drain := include "weft.drainMs" $component | int64 -}}
{{- /* What writes ends the batch in hand: nothing may cut that short, and its successor waits for it. */ -}}
{{- $grace := add ($component.isOne | ternary 30 10) (div (add 999 $drain (int64 $values.shutdownGraceMs)) 1000) -}}
{{- $selector := include "weft.selector" (dict "root" $root "name" .name) -}}
metadata:
  labels:
    {{- include "weft.podLabels" (dict "root" $root "name" .name "more" $values.podLabels) | nindent 4 }}
  {{- $annotations := dict -}}
  {{- if and (eq $component.role "ingest") (not $root.Values.node.existingSecret) }}
  {{- $_ := set $annotations "checksum/node" (toJson $root.Values.node | sha256sum) }}
  {{- end }}
  {{- if and (ne $component.service "gateway") (not (or $values.clickhouseSecret $root.Values.clickhouse.existingSecret)) }}
  {{- /* Enough to tell a change by, and too little to try passwords against. */}}
  {{- $_ := set $annotations "checksum/clickhouse" (toJson $root.Values.clickhouse | sha256sum | trunc 4) }}
  {{- end }}
  {{- with mergeOverwrite $annotations $root.Values.commonAnnotations $values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ $component.account }}
  automountServiceAccountToken: {{ eq $component.service "scoring-operator" }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ default $grace $values.terminationGracePeriodSeconds }}
  {{- with include "weft.imagePullSecrets" $root }}
  imagePullSecrets:
    {{- . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  {{- range $field := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsConfig" }}
  {{- with get $values $field }}
  {{- toYaml (dict $field .) | nindent 2 }}
  {{- end }}
  {{- end }}
  {{- with concat (include "weft.waitForDeployment" . | fromYamlArray) $values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if kindIs "slice" $values.topologySpreadConstraints }}
  {{- with $values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- else if not $component.isOne }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- $selector | nindent 10 }}
    {{- end }}
  {{- end }}
  containers:
    - name: weft
      image: {{ include "weft.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ $component.main }}]
      env:
        {{- include "weft.env" . | nindent 8 }}
      {{- with $values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- if $component.port }}
        - { name: {{ $component.portName }}, containerPort: {{ $component.port }} }
        {{- end }}
        {{- if $component.health }}
        - { name: health, containerPort: 7090 }
        {{- end }}
        - { name: metrics, containerPort: 9090 }
      {{- if $values.startupProbe }}
      startupProbe:
        {{- include "weft.probe" (dict "component" $component "probe" $values.startupProbe "name" "" "path" "/healthz") | nindent 8 }}
      {{- end }}
      {{- if $values.readinessProbe }}
      readinessProbe:
        {{- include "weft.probe" (dict "component" $component "probe" $values.readinessProbe "name" $component.health "path" "/readyz") | nindent 8 }}
      {{- end }}
      {{- if $values.livenessProbe }}
      livenessProbe:
        {{- include "weft.probe" (dict "component" $component "probe" $values.livenessProbe "name" "" "path" "/healthz") | nindent 8 }}
      {{- end }}
      {{- with $values.lifecycle }}
      lifecycle:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        {{- toYaml $values.securityContext | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if has $component.service (list "block" "tx") }}
        - { name: facts, mountPath: /tmp/facts }
        {{- end }}
        {{- include "weft.certificateMounts" . | nindent 8 }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- with $values.sidecars }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: {{ $values.tmpSizeLimit }} }
    {{- if has $component.service (list "block" "tx") }}
    - name: facts
      emptyDir: { sizeLimit: {{ add 64 (dig "FACT_CACHE_MB" 1024 (default dict $values.settings) | int) }}Mi }
    {{- end }}
    {{- include "weft.certificateVolumes" . | nindent 4 }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/*
The pod of a Job of the chart itself, such as a hook. Argument: root, name, args, account, token, annotations, env (YAML),
resources, configMap (whose name ends so, mounted at /etc/weft/programs; empty: none). It takes of the defaults what makes
a pod fit into the cluster, and no containers: a sidecar would keep the Job from ending.
*/}}
{{- define "weft.jobPod" -}}
{{- $root := .root -}}
{{- $lists := pick $root.Values.migrations "extraEnv" "extraEnvFrom" "extraVolumes" "extraVolumeMounts" -}}
{{- $defaults := mergeOverwrite (deepCopy $root.Values.defaults) (include "weft.given" $lists | fromYaml) -}}
metadata:
  labels:
    {{- include "weft.podLabels" (dict "root" $root "name" .name "more" $defaults.podLabels) | nindent 4 }}
  {{- with mergeOverwrite (dict) $root.Values.commonAnnotations (default (dict) .annotations) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ .account }}
  automountServiceAccountToken: {{ .token }}
  enableServiceLinks: false
  {{- with include "weft.imagePullSecrets" $root }}
  imagePullSecrets:
    {{- . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- toYaml $defaults.podSecurityContext | nindent 4 }}
  {{- range $field := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsConfig" }}
  {{- with get $defaults $field }}
  {{- toYaml (dict $field .) | nindent 2 }}
  {{- end }}
  {{- end }}
  containers:
    - name: weft
      image: {{ include "weft.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        {{- toYaml .args | nindent 8 }}
      {{- if or .env $defaults.extraEnv }}
      env:
        {{- with .env }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- with $defaults.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      {{- with $defaults.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        {{- toYaml $defaults.securityContext | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- with .configMap }}
        - { name: programs, mountPath: /etc/weft/programs, readOnly: true }
        {{- end }}
        {{- include "weft.certificateMounts" (dict "root" $root "name" "") | nindent 8 }}
        {{- with $defaults.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: {{ $defaults.tmpSizeLimit }} }
    {{- with .configMap }}
    - name: programs
      configMap: { name: {{ include "weft.fullname" $root }}-{{ . }} }
    {{- end }}
    {{- include "weft.certificateVolumes" (dict "root" $root "name" "") | nindent 4 }}
    {{- with $defaults.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
