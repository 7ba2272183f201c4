// Settings of routing: which rules a site has, and where the processes of its services are.
import * as z from 'zod'
import { parseTrustedNetwork } from '../../kernel/network/special-addresses.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'
import { agentspace_host } from './routed-services.ts'
import { rulePriorities } from './routing-table.ts'

const max_backends = 64
/** As in service-info, in registrations and in the names of ingresses. */
export const serviceName = z
  .string()
  .regex(/^[a-z]([a-z0-9-]{0,46}[a-z0-9])?$/, 'must be lower-case letters, digits and hyphens, at most 48')

/** As it stands in a path, and in the list of objects of service-info. */
export const objectName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$/, 'must be lower-case letters, digits, _ and -, at most 64')

/** Scheme, host and port alone: paths are forwarded as they are. */
export const serviceOrigin = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine(
    (url) => /^https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?\/?$/i.test(url),
    'must have a scheme, a host and a port, and no path, credentials, query or fragment',
  )

/** A name that Kubernetes takes as a label of DNS. */
const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower-case letters, digits and hyphens, at most 63')

const hostName = z
  .string()
  .regex(
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/,
    'must be a host name in lower case, without port and without a dot at its end',
  )
  .refine((host) => host !== agentspace_host, `must not be ${agentspace_host}, which has the tools of this site`)

const network = z
  .string()
  .refine(
    (text) => parseTrustedNetwork(text) !== undefined,
    'must be a network such as 10.1.2.0/24, of 8 bits or more, or one address',
  )

const backendUrl = serviceOrigin.transform((url) => url.replace(/\/$/, ''))

const urlField = (variable: string, doc: string) => backendUrl.optional().meta({ env: variable, doc })

/** Named as the interface documents name them, also in groups: `ingress.rest.enabled`. */
export const ingressSettings = settingsBlock('ingress', {
  rest_enabled: z.boolean().default(true).meta({
    nested: 'rest.enabled',
    doc: 'Whether objects are routed by their paths; without it only tools, chat and the public prefix are.',
  }),
  rest_priority: z.int().min(1).max(1_000).default(rulePriorities.own).meta({
    nested: 'rest.priority',
    doc: 'Priority of the rules of objects; that of the catch-all is 10, that of the gateway 200.',
  }),
  rest_objects: z.record(serviceName, z.array(objectName).max(1_000)).default({}).meta({
    nested: 'rest.objects',
    doc: 'Objects of a service, by its name in service-info, instead of those that it has by default.',
  }),
  rest_gateway_enabled: z.boolean().default(false).meta({
    nested: 'rest_gateway.enabled',
    doc: 'Whether requests to /api/v1, /userspace and /dataspace take one hop through the gateway, which checks and meters them.',
  }),
  agentspace_enabled: z.boolean().default(true).meta({
    nested: 'agentspace.enabled',
    doc: 'Whether tools and chat are routed to the gateway, where the site has one; else to intelligence.',
  }),
  class_name: z
    .string()
    .regex(
      /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/,
      'must be a name of Kubernetes: lower-case letters, digits, hyphens and dots',
    )
    .optional()
    .meta({ doc: 'Class of the ingresses in Kubernetes; absent: that of the cluster.' }),
  priority_annotation: z
    .string()
    .regex(/^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/, 'must be a name of an annotation')
    .default('traefik.ingress.kubernetes.io/router.priority')
    .meta({ doc: 'Annotation by which the ingress controller of Kubernetes takes the priority of a rule.' }),
  managed_enabled: z.boolean().default(false).meta({
    nested: 'managed.enabled',
    doc: 'Whether the gateway writes an ingress to the cluster for each registered service, and removes it with the registration.',
  }),
  managed_namespace: dnsLabel.optional().meta({
    nested: 'managed.namespace',
    doc: 'Namespace of those ingresses and of the Services behind them; absent: that of the service account or kubeconfig.',
  }),
  managed_kubeconfig_file: z.string().min(1).max(4_096).optional().meta({
    nested: 'managed.kubeconfig_file',
    doc: 'Kubeconfig with the address, authorities and token for the API server; absent: those of the service account of the pod.',
  }),
  managed_cluster_domain: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be a domain, such as cluster.local')
    .default('cluster.local')
    .meta({
      nested: 'managed.cluster_domain',
      doc: 'Domain of the cluster, by which a URL is known to be that of a Service.',
    }),
  backends: z.record(serviceName, z.array(backendUrl).min(1).max(max_backends)).default({}).meta({
    doc: 'URLs of the processes of a service, by its name in service-info (default: the roles of this profile, and the URLs below).',
  }),
  hosts: z.record(hostName, serviceName).default({}).meta({
    doc: 'Host names whose requests all go to one service of ingress.backends, such as the edge of another site.',
  }),
  registered_networks: z.array(network).max(256).default(['127.0.0.0/8', '::1/128']).meta({
    doc: 'Networks in which services that register with the gateway may be; the site connects to them at no other address. Only in the profile, not by environment.',
  }),
  intelligence_url: urlField('INTELLIGENCE_URL', 'URL of the intelligence service, where another machine runs it.'),
  entity_resolution_url: urlField(
    'ENTITY_RESOLUTION_URL',
    'URL of the entity-resolution service, where another machine runs it.',
  ),
  data_platform_url: urlField(
    'DATA_PLATFORM_URL',
    'URL of the data platform service, which has the objects that no other service owns.',
  ),
})
