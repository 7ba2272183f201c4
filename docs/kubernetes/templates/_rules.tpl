{{/* The rules of the routing table, as daemon/shared/routing/routing-table.ts builds them. */}}

{{/* Appends a rule to those of `state`, unless one has its host, prefix and priority. */}}
{{- define "platform.add" -}}
{{- $key := printf "%s %s %d" .host .prefix (int .priority) -}}
{{- if not (hasKey .state.seen $key) -}}
{{- $_ := set .state.seen $key true -}}
{{- $rule := dict "ingress" .ingress "host" .host "prefix" .prefix "priority" (int .priority) "service" .service -}}
{{- $_ := set .state "rules" (append .state.rules $rule) -}}
{{- end -}}
{{- end -}}

{{- define "platform.agentspace" -}}
{{- $rule := dict "state" .state "ingress" (printf "%s-agentspace" .service) "priority" .priority "service" .service -}}
{{- include "platform.add" (merge (dict "host" "agentspace.cluster.local" "prefix" "/") $rule) -}}
{{- range list "/agentspace" "/.well-known/oauth-protected-resource" -}}
{{- include "platform.add" (merge (dict "host" "" "prefix" .) $rule) -}}
{{- end -}}
{{- end -}}

{{- define "platform.service" -}}
{{- $state := .state -}}
{{- $rest := .values.ingress.rest -}}
{{- $name := .service.name -}}
{{- $isServed := has $name $state.served -}}
{{- $objects := .service.objects -}}
{{- if hasKey $rest.objects $name -}}{{- $objects = get $rest.objects $name -}}{{- end -}}
{{- range $object := $objects -}}
{{- $owner := $name -}}
{{- if and (not $isServed) (has $object (list "datapipeline" "datapipelineconnection")) -}}
{{- $owner = "data-platform-service" -}}
{{- end -}}
{{- range $prefix := list "/api/v1" "/userspace" -}}
{{- include "platform.add" (dict "state" $state "ingress" (printf "%s-rest" $owner) "host" "" "prefix" (printf "%s/%s" $prefix $object) "priority" $rest.priority "service" $owner) -}}
{{- end -}}
{{- end -}}
{{- range .service.paths -}}
{{- include "platform.add" (dict "state" $state "ingress" (printf "%s-rest" $name) "host" "" "prefix" . "priority" $rest.priority "service" $name) -}}
{{- end -}}
{{- end -}}

{{/* JSON with `rules`, and `served`: the names of the services that have pods. */}}
{{- define "platform.table" -}}
{{- $values := .Values -}}
{{- $served := $values.served -}}
{{- range $values.services -}}
{{- if and .role (has .role $values.roles) -}}{{- $served = append $served .name -}}{{- end -}}
{{- end -}}
{{- $state := dict "rules" list "seen" dict "served" $served -}}
{{- if and $values.ingress.agentspace.enabled (has "gateway" $served) -}}
{{- include "platform.agentspace" (dict "state" $state "service" "gateway" "priority" $values.ingress.agentspace.priority) -}}
{{- end -}}
{{- include "platform.agentspace" (dict "state" $state "service" "intelligence-service" "priority" 10) -}}
{{- include "platform.add" (dict "state" $state "ingress" "public-proxy-rest" "host" "" "prefix" "/public-api" "priority" 100 "service" "public-proxy") -}}
{{- if $values.ingress.rest.enabled -}}
{{- range $values.services -}}
{{- include "platform.service" (dict "state" $state "service" . "values" $values) -}}
{{- end -}}
{{- range list "/userspace" "/dataspace" "/api/v1" -}}
{{- include "platform.add" (dict "state" $state "ingress" "data-platform-service-catch-all" "host" "" "prefix" . "priority" 10 "service" "data-platform-service") -}}
{{- end -}}
{{- if $values.ingress.rest_gateway.enabled -}}
{{- range $state.rules -}}
{{- if regexMatch "^(/userspace|/dataspace|/api/v1)(/|$)" .prefix -}}
{{- include "platform.add" (dict "state" $state "ingress" "gateway-rest-mode" "host" "" "prefix" .prefix "priority" $values.ingress.rest_gateway.priority "service" "gateway") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "rules" $state.rules "served" $served | toJson -}}
{{- end -}}

{{- define "platform.metadata" -}}
name: {{ .name }}
namespace: {{ .namespace }}
labels:
  app.kubernetes.io/name: {{ .service }}
  app.kubernetes.io/part-of: platform
{{- end -}}

{{/* Whether the listener of a role has a certificate: that of the profile, or its own as a role. */}}
{{- define "platform.tls" -}}
{{- or .values.tls (and .values.role_certificates (ne .role "proxy")) -}}
{{- end -}}

{{/* Where the other roles are, and the certificate of this one, as variables. */}}
{{- define "platform.roleCalls" -}}
{{- $role := .role -}}
{{- $values := .values -}}
{{- if eq $role "proxy" }}
- name: PLATFORM_ROLE_ACCEPT_CERTIFICATES
  value: "false"
{{- else }}
{{- range list "CERT" "KEY" }}
- name: {{ $.env }}_TLS_{{ . }}_FILE
  value: /var/lib/platform/identity/roles/{{ $role }}/certificates/role.pem
{{- end }}
- name: PLATFORM_ROLE_ACCEPT_CERTIFICATES
  value: "true"
{{- end }}
{{- $documented := dict "intelligence" "INTELLIGENCE_URL" "resolution" "ENTITY_RESOLUTION_URL" }}
{{- $urls := dict }}
{{- range $values.services }}
{{- if and .role (has .role $values.roles) (ne .role $role) (ne .role "proxy") }}
{{- $url := printf "https://%s:%d" .name (int .port) }}
{{- if hasKey $documented .role }}
- name: {{ get $documented .role }}
  value: {{ $url }}
{{- else }}
{{- $_ := set $urls .role $url }}
{{- end }}
{{- end }}
{{- end }}
{{- if $urls }}
- name: PLATFORM_ROLE_URLS
  value: {{ $urls | toJson | quote }}
{{- end }}
{{- end -}}
