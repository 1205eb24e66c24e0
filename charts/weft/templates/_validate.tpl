{{/* Fails with every contradiction of the values at once. */}}
{{- define "weft.validate" -}}
{{- $mistakes := list -}}
{{- $node := .Values.node -}}
{{- $vm := .Values.chain.vm -}}
{{- if $node.existingSecret -}}
  {{- range list "rpc" "rest" "jsonRpc" -}}
    {{- if get $node . }}{{ $mistakes = append $mistakes (printf "node.%s is set, and so is node.existingSecret: only one of them" .) }}{{ end -}}
  {{- end -}}
{{- else -}}
  {{- if not $node.rpc }}{{ $mistakes = append $mistakes "node.rpc is not set: the CometBFT RPC URL of the rollup's node, such as http://node:26657 (or node.existingSecret)" }}{{ end -}}
  {{- if not $node.rest }}{{ $mistakes = append $mistakes "node.rest is not set: the Cosmos REST URL of the node, such as http://node:1317 (or node.existingSecret)" }}{{ end -}}
  {{- if and (eq $vm "evm") (not $node.jsonRpc) }}{{ $mistakes = append $mistakes "node.jsonRpc is not set: an EVM rollup's JSON-RPC URL, such as http://node:8545 (or chain.vm: move or wasm)" }}{{ end -}}
  {{- if and (ne $vm "evm") $node.jsonRpc }}{{ $mistakes = append $mistakes (printf "node.jsonRpc is set, but chain.vm is %s: only EVM rollups have JSON-RPC" $vm) }}{{ end -}}
{{- end -}}
{{- range list "rpc" "rest" "jsonRpc" -}}
  {{- $name := . -}}
  {{- range splitList "," (include "weft.urls" (get $node $name)) | compact -}}
    {{- if not (include "weft.isUrl" (trim .)) }}{{ $mistakes = append $mistakes (printf "node.%s is no http(s) URL, nor several with commas (it is not shown; in a password, characters such as # / ? @ are written with %%)" $name) }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- with .Values.clickhouse.url -}}
  {{- if not (include "weft.isUrl" .) }}{{ $mistakes = append $mistakes "clickhouse.url is no http(s) URL (it is not shown; in a password, characters such as # / ? @ are written with %, or stand in clickhouse.password as they are)" }}{{ end -}}
{{- end -}}
{{- if not (regexMatch "^[a-zA-Z]" (include "weft.fullname" .)) }}{{ $mistakes = append $mistakes (printf "names of objects would begin with %s, and those of Services begin with a letter: set fullnameOverride" (include "weft.fullname" .)) }}{{ end -}}
{{- if not .Values.chain.id }}{{ $mistakes = append $mistakes "chain.id is not set: the chain id of the rollup, such as rollup-1" }}{{ end -}}
{{- $clickhouse := .Values.clickhouse -}}
{{- if $clickhouse.existingSecret -}}
  {{- range list "url" "user" "password" -}}
    {{- if get $clickhouse . }}{{ $mistakes = append $mistakes (printf "clickhouse.%s is set, and so is clickhouse.existingSecret: only one of them" .) }}{{ end -}}
  {{- end -}}
{{- else if not $clickhouse.url -}}
  {{- with include "weft.clickhouseUsers" . | fromYamlArray }}{{ $mistakes = append $mistakes (printf "clickhouse.url is not set: http(s) URL of a ClickHouse server, such as http://clickhouse:8123 (or clickhouse.existingSecret, or all of %s)" (join ", " .)) }}{{ end -}}
{{- end -}}
{{- if and (include "weft.hasRichlist" .) (ne $vm "evm") }}{{ $mistakes = append $mistakes (printf "services.richlist.enabled is true, but chain.vm is %s: only EVM rollups have a rich list" $vm) }}{{ end -}}
{{- $hasOperator := include "weft.hasOperator" . -}}
{{- if and $hasOperator (ne $vm "evm") }}{{ $mistakes = append $mistakes (printf "scoringOperator.enabled is true, but chain.vm is %s: scoring contracts are of EVM rollups" $vm) }}{{ end -}}
{{- if and (include "weft.programs" . | fromYaml) (not $hasOperator) }}{{ $mistakes = append $mistakes "scoringPrograms are given, but the scoring operator is off" }}{{ end -}}
{{- if $hasOperator -}}
{{- range include "weft.jobMistakes" . | splitList "\n" | compact }}{{ $mistakes = append $mistakes . }}{{ end -}}
{{- range $name, $program := include "weft.programs" . | fromYaml -}}
  {{- $endpoints := default (dict) $program.endpoints -}}
  {{- $rollup := default (dict) $endpoints.rollup -}}
  {{- if and $.Values.node.existingSecret (not $endpoints.configMapRef) (not $rollup.jsonRpcUrls) }}{{ $mistakes = append $mistakes (printf "scoringPrograms.%s.endpoints.rollup.jsonRpcUrls is not set: with node.existingSecret the chart does not know them" $name) }}{{ end -}}
  {{- if and (not $endpoints.configMapRef) (or (not $rollup.jsonRpcUrls) (not $rollup.restUrls)) (regexMatch "://[^/,]*@" (printf "%s,%s" (include "weft.urls" $node.jsonRpc) (include "weft.urls" $node.rest))) }}{{ $mistakes = append $mistakes (printf "scoringPrograms.%s: node.jsonRpc or node.rest has a password, and a ScoringProgram is no Secret: give it URLs without one in endpoints.rollup, or endpoints.configMapRef" $name) }}{{ end -}}
  {{- $keys := $.Values.clickhouse.existingSecretKeys -}}
  {{- if and $.Values.clickhouse.existingSecret (not $.Values.scoringOperator.jobs.clickhouseSecret) (not $program.clickhouse) (or (ne $keys.url "url") (ne $keys.user "user") (ne $keys.password "password")) }}{{ $mistakes = append $mistakes (printf "scoringPrograms.%s.clickhouse is not set: Jobs need a Secret with the keys url, user and password, and clickhouse.existingSecretKeys are other ones (or scoringOperator.jobs.clickhouseSecret)" $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- /* Whoever brings no custom resource may be one who must not list programs, and would be refused the whole release. */ -}}
{{- if and (not $hasOperator) (eq $vm "evm") .Values.crds.enabled (.Capabilities.APIVersions.Has "vip.weft.dev/v1alpha1") -}}
{{- range (lookup "vip.weft.dev/v1alpha1" "ScoringProgram" .Release.Namespace "").items -}}
  {{- if eq (get (default (dict) .metadata.labels) "app.kubernetes.io/instance") $.Release.Name }}{{ $mistakes = append $mistakes (printf "scoringOperator.enabled is false, but the program %s is there, which only the operator can let go: take it out of scoringPrograms first" .metadata.name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if and (include "weft.programs" . | fromYaml) $hasOperator (not .Values.scoringOperator.rbac.create) }}{{ $mistakes = append $mistakes "scoringPrograms are given, but scoringOperator.rbac.create is false: the Job that applies them has no rights then" }}{{ end -}}
{{- if and .Values.crds.takeOwnership (not .Values.crds.keep) }}{{ $mistakes = append $mistakes "crds.takeOwnership is true, but crds.keep is false: programs of other releases would go with this one" }}{{ end -}}
{{- $watched := .Values.scoringOperator.watchNamespaces -}}
{{- if and (include "weft.programs" . | fromYaml) $hasOperator $watched (not .Values.scoringOperator.watchAllNamespaces) (not (has .Release.Namespace $watched)) }}{{ $mistakes = append $mistakes (printf "scoringPrograms are given, but scoringOperator.watchNamespaces has not the release's own namespace, %s, where they are made" .Release.Namespace) }}{{ end -}}
{{- $tls := .Values.tls -}}
{{- if $tls.enabled -}}
  {{- if and $tls.existingSecret $tls.certManager.enabled }}{{ $mistakes = append $mistakes "tls.existingSecret is set, and tls.certManager.enabled is true: only one of them" }}{{ end -}}
  {{- if not (or $tls.existingSecret $tls.certManager.enabled) }}{{ $mistakes = append $mistakes "tls.enabled is true: set tls.existingSecret, or tls.certManager.enabled" }}{{ end -}}
  {{- if and $tls.certManager.enabled (not $tls.certManager.issuerRef.name) }}{{ $mistakes = append $mistakes "tls.certManager.issuerRef.name is not set" }}{{ end -}}
  {{- if and $tls.serverName $tls.certManager.enabled }}{{ $mistakes = append $mistakes "tls.serverName is set, but cert-manager's certificates are of the services' own names" }}{{ end -}}
{{- else if or $tls.existingSecret $tls.certManager.enabled -}}
  {{- $mistakes = append $mistakes "tls.existingSecret or tls.certManager.enabled is set, but tls.enabled is false" -}}
{{- end -}}
{{- if and .Values.extraCA.configMap .Values.extraCA.secret }}{{ $mistakes = append $mistakes "extraCA.configMap and extraCA.secret are both set: only one of them" }}{{ end -}}
{{- if and .Values.gateway.route.enabled (not .Values.gateway.route.parentRefs) }}{{ $mistakes = append $mistakes "gateway.route.parentRefs is empty: a route belongs to a Gateway" }}{{ end -}}
{{- with .Values.gateway.service -}}
  {{- if and (or .loadBalancerIP .loadBalancerClass) (ne .type "LoadBalancer") }}{{ $mistakes = append $mistakes (printf "gateway.service.loadBalancerIP or loadBalancerClass is set, but its type is %s" .type) }}{{ end -}}
  {{- if and .loadBalancerSourceRanges (ne .type "LoadBalancer") }}{{ $mistakes = append $mistakes (printf "gateway.service.loadBalancerSourceRanges is set, but its type is %s" .type) }}{{ end -}}
  {{- if and .externalTrafficPolicy (eq .type "ClusterIP") }}{{ $mistakes = append $mistakes "gateway.service.externalTrafficPolicy is set, but its type is ClusterIP" }}{{ end -}}
  {{- if and .nodePort (eq .type "ClusterIP") }}{{ $mistakes = append $mistakes "gateway.service.nodePort is set, but its type is ClusterIP" }}{{ end -}}
{{- end -}}
{{- range $name, $component := include "weft.components" . | fromYaml -}}
  {{- $values := $component.values -}}
  {{- $least := div (add 999 (include "weft.drainMs" $component | int64) (int64 $values.shutdownGraceMs)) 1000 -}}
  {{- with $values.terminationGracePeriodSeconds -}}
    {{- if lt (int64 .) (int64 $least) }}{{ $mistakes = append $mistakes (printf "terminationGracePeriodSeconds of %s is %v: drainMs and shutdownGraceMs take %d seconds" $name . $least) }}{{ end -}}
  {{- end -}}
  {{- range include "weft.missingVolumes" $values | fromYamlArray }}{{ $mistakes = append $mistakes (printf "extraVolumeMounts of %s mounts %s, which is not in its extraVolumes" $name .) }}{{ end -}}
  {{- if and $values.autoscaling.enabled $component.scales -}}
    {{- $scaling := $values.autoscaling -}}
    {{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}{{ $mistakes = append $mistakes (printf "autoscaling.minReplicas of %s is above maxReplicas" $name) }}{{ end -}}
    {{- if and $scaling.keda.enabled (not $scaling.keda.triggers) }}{{ $mistakes = append $mistakes (printf "autoscaling.keda.triggers of %s is empty" $name) }}{{ end -}}
    {{- if not (or $scaling.keda.enabled $scaling.targetCPUUtilizationPercentage $scaling.targetMemoryUtilizationPercentage $scaling.metrics) }}{{ $mistakes = append $mistakes (printf "autoscaling of %s has nothing to go by: targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage or metrics" $name) }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- $lists := include "weft.given" (pick .Values.migrations "extraVolumes" "extraVolumeMounts") | fromYaml -}}
{{- range include "weft.missingVolumes" (mergeOverwrite (pick .Values.defaults "extraVolumes" "extraVolumeMounts") $lists) | fromYamlArray }}{{ $mistakes = append $mistakes (printf "Jobs of the chart mount %s by migrations.extraVolumeMounts, else defaults.extraVolumeMounts, and it is not in migrations.extraVolumes, else defaults.extraVolumes" .) }}{{ end -}}
{{- if $mistakes -}}
{{- fail (printf "\n\nThe values of weft have mistakes:\n  - %s\n" (join "\n  - " $mistakes)) -}}
{{- end -}}
{{- end -}}

{{/* Volumes that are mounted and are not there, as a list in YAML. Argument: extraVolumes, extraVolumeMounts. */}}
{{- define "weft.missingVolumes" -}}
{{- $there := list "tmp" "tls" "extra-ca" -}}
{{- range .extraVolumes }}{{ $there = append $there .name }}{{ end -}}
{{- $missing := list -}}
{{- range .extraVolumeMounts }}{{ if not (has .name $there) }}{{ $missing = append $missing .name }}{{ end }}{{ end -}}
{{- toYaml (uniq $missing) -}}
{{- end -}}
