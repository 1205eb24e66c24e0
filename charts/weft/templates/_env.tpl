{{/* An environment variable whose value stands in the chart. Argument: name, value. */}}
{{- define "weft.env.plain" -}}
- name: {{ .name }}
  value: {{ include "weft.text" .value | quote }}
{{- end -}}

{{/* Where ClickHouse is. Argument: root, secret (of the component alone; empty: the one of all). */}}
{{- define "weft.env.clickhouse" -}}
{{- $clickhouse := .root.Values.clickhouse -}}
{{- $isOwn := not (or .secret $clickhouse.existingSecret) -}}
{{- $keys := $isOwn | ternary (dict "url" "url" "user" "user" "password" "password") $clickhouse.existingSecretKeys -}}
{{- $secret := default (include "weft.clickhouseSecret" .root) .secret -}}
- name: CLICKHOUSE_URL
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: {{ $keys.url }} }
- name: CLICKHOUSE_USER
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: {{ $keys.user }}, optional: true }
- name: CLICKHOUSE_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ $secret }}, key: {{ $keys.password }}, optional: true }
{{ include "weft.env.plain" (dict "name" "CLICKHOUSE_DATABASE" "value" $clickhouse.database) }}
{{- with $clickhouse.cluster }}
{{ include "weft.env.plain" (dict "name" "CLICKHOUSE_CLUSTER" "value" .) }}
{{- end }}
{{- end -}}

{{/* A URL of the node, from its Secret. Argument: root, name, key. */}}
{{- define "weft.env.node" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "weft.nodeSecret" .root }}
      key: {{ empty .root.Values.node.existingSecret | ternary .key (get .root.Values.node.existingSecretKeys .key) }}
{{- end -}}

{{/* Which of the node's URLs a component needs, as a list in YAML. Argument: root, component. */}}
{{- define "weft.nodeUrls" -}}
{{- $evm := include "weft.isEvm" .root -}}
{{- $urls := dict "block" (list "rpc" "rest" "jsonRpc") "tx" (list "rest") "nft" (list "rest" "jsonRpc") "richlist" (list "rest" "jsonRpc") -}}
{{- $needed := list -}}
{{- if eq .component.role "ingest" -}}
{{- range get $urls .component.service -}}
{{- if or $evm (ne . "jsonRpc") }}{{ $needed = append $needed . }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $needed -}}
{{- end -}}

{{/* Files of mutual TLS. Argument: root. */}}
{{- define "weft.env.tls" -}}
- name: GRPC_TLS_CERT_FILE
  value: /etc/weft/tls/tls.crt
- name: GRPC_TLS_KEY_FILE
  value: /etc/weft/tls/tls.key
- name: GRPC_TLS_CA_FILE
  value: /etc/weft/tls/ca.crt
{{ include "weft.env.plain" (dict "name" "GRPC_TLS_RELOAD_SECONDS" "value" .Values.tls.reloadSeconds) }}
{{- with .Values.tls.serverName }}
{{ include "weft.env.plain" (dict "name" "GRPC_TLS_SERVER_NAME" "value" .) }}
{{- end }}
{{- end -}}

{{/* The environment of a component, as a list in YAML. Argument: root, name, component, components. */}}
{{- define "weft.env" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $values := $component.values -}}
{{- $isGrpc := ne $component.health "" -}}
{{- $plain := dict "LOG_LEVEL" $values.logLevel "HOST" $root.Values.listenHost "OPS_PORT" 9090 "DRAIN_MS" (include "weft.drainMs" $component | int64) "SHUTDOWN_GRACE_MS" $values.shutdownGraceMs -}}
{{- if ne $component.service "scoring-operator" -}}
{{- $_ := set $plain "CHAIN_ID" $root.Values.chain.id -}}
{{- $_ := set $plain "VM_TYPE" $root.Values.chain.vm -}}
{{- $_ := set $plain "ACCOUNT_ADDRESS_PREFIX" $root.Values.chain.addressPrefix -}}
{{- end -}}
{{- if $isGrpc -}}
{{- $_ := set $plain "ROLE" $component.role -}}
{{- $_ := set $plain "GRPC_PORT" $component.port -}}
{{- $_ := set $plain "HEALTH_PORT" 7090 -}}
{{- $_ := set $plain "MAX_CONNECTION_AGE_MS" $values.maxConnectionAgeMs -}}
{{- end -}}
{{- if ne $component.service "gateway" -}}
{{- $_ := set $plain "DATA_DIR" "/tmp" -}}
{{- $start := and (eq $root.Values.migrations.mode "start") (or $component.isOne (not $isGrpc)) -}}
{{- $_ := set $plain "MIGRATIONS" ($start | ternary "apply" "check") -}}
{{- end -}}
{{- if eq $component.role "ingest" -}}
{{- $_ := set $plain "NODE_TIMEOUT_MS" $root.Values.node.timeoutMs -}}
{{- if eq $component.service "block" -}}
{{- $_ := set $plain "START_HEIGHT" $root.Values.chain.startHeight -}}
{{- else -}}
{{- $_ := set $plain "BLOCK_SERVICE_ADDR" (include "weft.address" (dict "root" $root "name" "block-ingest" "port" 7001)) -}}
{{- end -}}
{{- end -}}
{{- if eq $component.service "gateway" -}}
{{- $_ := set $plain "PORT" $component.port -}}
{{- range $service := list "block" "tx" "nft" "richlist" -}}
{{- with get $.components $service -}}
{{- $_ := set $plain (printf "%s_SERVICE_ADDR" (upper $service)) (include "weft.address" (dict "root" $root "name" $service "port" .port)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq $component.service "scoring-operator" -}}
{{- $_ := set $plain "KUBERNETES_OPERATOR" "true" -}}
{{- $_ := set $plain "NODE_TIMEOUT_MS" $root.Values.node.timeoutMs -}}
{{- $_ := set $plain "JOB_IMAGE" (include "weft.image" $root) -}}
{{- $_ := set $plain "JOB_LOG_LEVEL" $values.logLevel -}}
{{- $_ := set $plain "JOB_SERVICE_ACCOUNT" (include "weft.jobAccountName" $root) -}}
{{- $operator := $root.Values.scoringOperator -}}
{{- if or $operator.watchAllNamespaces $operator.watchNamespaces -}}
{{- $_ := set $plain "WATCH_NAMESPACES" ($operator.watchAllNamespaces | ternary "all" (join "," $operator.watchNamespaces)) -}}
{{- end -}}
{{- with $operator.jobLeaseNamespace }}{{ $_ := set $plain "JOB_LEASE_NAMESPACE" . }}{{ end -}}
{{- $plain = mergeOverwrite $plain (include "weft.jobSettings" $root | fromYaml) -}}
{{- if $root.Values.tls.enabled -}}
{{- $_ := set $plain "JOB_TLS_SECRET" (default (printf "%s-scoring-job-tls" (include "weft.fullname" $root)) $root.Values.tls.existingSecret) -}}
{{- end -}}
{{- with $root.Values.extraCA -}}
{{- if or .configMap .secret -}}
{{- $_ := set $plain (empty .secret | ternary "JOB_CA_CONFIGMAP" "JOB_CA_SECRET") (default .configMap .secret) -}}
{{- $_ := set $plain "JOB_CA_KEY" .key -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := mergeOverwrite $plain (default (dict) $values.settings) }}
{{ include "weft.env.plain" (dict "name" $name "value" $value) }}
{{- end }}
{{- if eq $component.service "scoring-operator" }}
- name: KUBERNETES_NAMESPACE
  valueFrom:
    fieldRef: { fieldPath: metadata.namespace }
{{- end }}
{{- if ne $component.service "gateway" }}
{{ include "weft.env.clickhouse" (dict "root" $root "secret" $values.clickhouseSecret) }}
{{- end }}
{{- range include "weft.nodeUrls" (dict "root" $root "component" $component) | fromYamlArray }}
{{ include "weft.env.node" (dict "root" $root "name" (get (dict "rpc" "RPC_URL" "rest" "REST_URL" "jsonRpc" "JSON_RPC_URL") .) "key" .) }}
{{- end }}
{{- if $root.Values.tls.enabled }}
{{ include "weft.env.tls" $root }}
{{- end }}
{{- if and (eq $component.role "ingest") (ne $component.service "block") $root.Values.grpcToken.existingSecret }}
- name: GRPC_TOKEN
  valueFrom:
    secretKeyRef: { name: {{ $root.Values.grpcToken.existingSecret }}, key: {{ $root.Values.grpcToken.existingSecretKey }} }
{{- end }}
{{- if or $root.Values.extraCA.configMap $root.Values.extraCA.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/weft/ca/ca.crt
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
