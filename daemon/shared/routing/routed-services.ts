// Services that requests are routed to, with the port of each and the paths that it owns.

export type RoutedService = {
  /** That of service-info, of registrations and of the Service of a cluster. */
  readonly name: string
  /** Of this executable; absent for other software of the platform. */
  readonly role?: string
  readonly port: number
  /** Each is addressed at `/api/v1/<object>` and `/userspace/<object>`. */
  readonly objects: readonly string[]
  /** Further prefixes of paths. */
  readonly paths: readonly string[]
}

const resolutionNouns = [
  ...['arrival', 'arrival_file', 'arrival_folder', 'entity', 'entity_change', 'entity_cluster', 'entity_lookup'],
  ...['entity_match', 'entity_record', 'entity_search', 'fusion', 'fusion_run', 'lens', 'lens_binding', 'registry'],
  'uncertain_match',
]

/** Document 000 part C, decisions.md section 6, and what the roles own beyond them. */
export const routedServices = [
  { name: 'gateway', role: 'gateway', port: 8_001, objects: ['chat', 'register', 'guide'], paths: ['/api/v2/gateway'] },
  {
    name: 'intelligence-service',
    role: 'intelligence',
    port: 8_002,
    objects: [
      ...['insight', 'signal', 'block', 'profile', 'report', 'task', 'edition'],
      ...['signal-bulk', 'signal-bulk-plan', 'signal-silence', 'signal-source', 'signal-intake'],
    ],
    paths: ['/api/v1/federation/signal'],
  },
  {
    name: 'resolution-service',
    role: 'resolution',
    port: 8_003,
    objects: ['lens', 'lensbinding', 'entitymatch', 'entitycluster', 'fusionrun'],
    paths: [...resolutionNouns.map((noun) => `/api/v2/${noun}`), '/api/v2/federation/resolution'],
  },
  {
    name: 'cost-lens-service',
    port: 8_004,
    objects: ['costlens', 'route', 'isochrone', 'risksurface', 'floodextent', 'actionwindow'],
    paths: [],
  },
  { name: 'alerting-service', port: 8_005, objects: ['sensor', 'threshold', 'alert'], paths: [] },
  {
    name: 'pipeline-service',
    role: 'ingest',
    port: 8_008,
    objects: [
      ...['dag', 'workflow', 'connection', 'effect', 'datapipeline', 'datapipelineconnection', 'status'],
      'dataeffect',
    ],
    paths: ['/api/v2/federation/dataset'],
  },
  { name: 'data-platform-service', port: 8_009, objects: [], paths: ['/dataspace'] },
  { name: 'public-proxy', role: 'proxy', port: 8_012, objects: [], paths: [] },
  {
    name: 'consensus-service',
    role: 'consensus',
    port: 8_400,
    objects: [],
    paths: ['consensus', 'dissent', 'federation', 'audit'].map((noun) => `/api/v2/${noun}`),
  },
  { name: 'hub-service', role: 'hub', port: 8_410, objects: [], paths: ['/api/v2/hub'] },
  {
    name: 'site-service',
    role: 'site',
    port: 8_420,
    objects: [],
    paths: [
      ...['/api/v2/site', '/api/v2/job', '/oauth2'],
      ...['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'],
    ],
  },
] as const satisfies readonly RoutedService[]

export type RoutedServiceName = (typeof routedServices)[number]['name']

/** Prefixes under which an object of any service is addressed. */
export const object_prefixes = ['/api/v1', '/userspace'] as const
/** What no rule above names goes to the data platform. */
export const catch_all_prefixes = ['/userspace', '/dataspace', '/api/v1'] as const
/** Objects of ingest that the data platform has where ingest is absent. */
export const objectsOfDataPlatform: ReadonlySet<string> = new Set(['datapipeline', 'datapipelineconnection'])

/** The host of tools and chat inside a cluster. */
export const agentspace_host = 'agentspace.cluster.local'
/** Tools and chat at the host of a site, and the metadata by which their clients find the issuer (RFC 9728). */
export const agentspacePaths = ['/agentspace', '/.well-known/oauth-protected-resource'] as const
/** The only prefix whose requests carry no identity. */
export const public_prefix = '/public-api'
