// The two sites of the demo of the gateway: alpha has the edge and a gateway; bravo registers a role there, and is behind that edge by host.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { offline, type SiteFolder } from '../../daemon/offline/offline.ts'
import { type DemoDaemon, type DemoSite, makeDemoSite, startDemoSite } from './demo-site.ts'
import { findFreePorts } from './free-ports.ts'
import { writePeople } from './people.ts'
import type { DemoStudio } from './perform-demo.ts'

/** Of both sites: they belong to one operator, and are not one site. */
const tenant_id = 'coast'
const certificate_days = 1
/** By which the edge of alpha knows requests to bravo. A name that every machine resolves, without DNS. */
const bravo_host = 'localhost'
/** Of runs at bravo. */
export const demo_lens = 'persons'
/** The only subject that may register each service. */
export const demoRegistrants = { 'resolution-service': 'svc-bravo', maps: 'svc-maps', berths: 'svc-berths' } as const

export type GatewaySites = {
  readonly alpha: DemoSite
  bravo: DemoSite
  /** Of the edge of alpha: all that clients and services know of the site. */
  readonly edge: URL
  /** Authorities that have signed its certificate. */
  readonly ca: string
  readonly ca_file: string
  /** The same edge by the host of bravo, and the authority of bravo, which has signed the certificate of that host. */
  readonly by_host: { readonly url: URL; readonly ca: string }
  /** File with records of people, for runs at bravo. */
  readonly people_file: string
  /** After it was killed. */
  restartBravo(): Promise<void>
}

export async function startGatewaySites({ dir, running, signal }: DemoStudio): Promise<GatewaySites> {
  const [alphaDir, bravoDir] = [join(dir, 'alpha'), join(dir, 'bravo')]
  const ports = await choosePorts()
  const edge = `https://127.0.0.1:${ports.edge}`
  const secret_file = join(dir, 'bravo.secret')
  writeFileSync(secret_file, randomBytes(24).toString('base64url'), { mode: 0o600 })
  const alphaSections = buildAlphaSections({ edge, secret_file, ports, ...listCertificates(alphaDir, bravoDir) })
  const folder = await makeDemoSite(alphaDir, 'alpha', { tenant_id, sections: alphaSections })
  const { ca, ca_file } = await issueCertificate(folder, 'alpha', '127.0.0.1', dir)
  const bravoSections = buildBravoSections(edge, ports, ca_file)
  const bravoFolder = await makeDemoSite(bravoDir, 'bravo', { tenant_id, sections: bravoSections })
  const bravoAuthority = await issueCertificate(bravoFolder, 'bravo', bravo_host, dir)
  const alpha = await startDemoSite(alphaDir, 'alpha', buildAlphaDaemon(edge, ports), signal)
  running.push(alpha)

  const records = join(dir, 'records')
  mkdirSync(records, { mode: 0o700 })
  const people_file = await writePeople('bravo', records, tenant_id)
  const daemon = buildBravoDaemon({ ports, records, secret_file })
  const startBravo = async () => {
    const bravo = await startDemoSite(bravoDir, 'bravo', daemon, signal)
    running.push(bravo)
    return bravo
  }
  const bravo = await startBravo()
  const { readLens } = await offline.lenses()
  await bravo.analyst.call('resolution.lens.create', { body: readLens(demo_lens) })
  const by_host = { url: new URL(`https://${bravo_host}:${ports.edge}`), ca: bravoAuthority.ca }
  const sites: GatewaySites = {
    ...{ alpha, bravo, edge: new URL(edge), ca, ca_file, by_host, people_file },
    async restartBravo() {
      sites.bravo = await startBravo()
    },
  }
  return sites
}

const portNames = [
  ...(['edge', 'gateway', 'site', 'intelligence'] as const),
  ...(['resolution', 'bravo_edge', 'bravo_gateway', 'bravo_site'] as const),
]
type DemoPorts = Readonly<Record<(typeof portNames)[number], number>>

/** Before the start: the routing table needs them, and a site that is killed comes back where it was. */
async function choosePorts(): Promise<DemoPorts> {
  const chosen = await findFreePorts(portNames.length)
  return Object.fromEntries(portNames.map((name, index) => [name, chosen[index]])) as DemoPorts
}

/** Certificate and key of each site are in one file. */
function listCertificates(alphaDir: string, bravoDir: string) {
  const pemOf = (dir: string) => offline.certificateOf(offline.siteFolder(dir))
  return { pem_file: pemOf(alphaDir), bravo_pem_file: pemOf(bravoDir) }
}

/** By the authority of the site itself, as for its peers. */
async function issueCertificate(folder: SiteFolder, name: string, host: string, dir: string) {
  const { makeSiteAuthority } = await offline.authority()
  const { issueSiteCertificate } = await offline.certificate()
  const [now, days, passphrase] = [Date.now(), certificate_days, undefined]
  const authority = await makeSiteAuthority(folder, {}, { name, days, now, passphrase, replace: false })
  await issueSiteCertificate(folder, {}, [host], { days, now, passphrase: () => passphrase })
  const ca = authority.certificate.toString()
  const ca_file = join(dir, `${name}.authority.pem`)
  writeFileSync(ca_file, ca, { mode: 0o600 })
  return { ca, ca_file }
}

type ProfileSections = Readonly<Record<string, object>>

type AlphaFiles = {
  readonly edge: string
  readonly ports: DemoPorts
  readonly secret_file: string
  readonly pem_file: string
  readonly bravo_pem_file: string
}

function buildAlphaSections({ edge, ports, secret_file, pem_file, bravo_pem_file }: AlphaFiles): ProfileSections {
  const services = Object.keys(demoRegistrants)
  return {
    edge: {
      ...{ tls_cert_file: pem_file, tls_key_file: pem_file },
      certificates: [{ hosts: [bravo_host], cert_file: bravo_pem_file, key_file: bravo_pem_file }],
    },
    ingress: {
      backends: { bravo: [`http://127.0.0.1:${ports.bravo_edge}`] },
      hosts: { [bravo_host]: 'bravo' },
    },
    gateway: { registrants: demoRegistrants, mcp_url: edge, trusted_proxy_depth: 1 },
    identity: {
      clients: [
        { client_id: 'bravo', secret_file, subject: demoRegistrants['resolution-service'], roles: ['service'] },
      ],
      audiences: Object.fromEntries(services.map((name) => [name, ['gateway']])),
    },
  }
}

function buildAlphaDaemon(edge: string, ports: DemoPorts): DemoDaemon {
  const { site, intelligence, gateway } = ports
  return {
    roles: ['site', 'intelligence', 'gateway', 'edge'],
    env: { SITE_PUBLIC_URL: edge, ...buildListeners({ site, intelligence, gateway, edge: ports.edge }) },
  }
}

/** Without metrics; the edge has no listener for plain requests beside its own. */
function buildListeners(ports: Readonly<Record<string, number>>): Record<string, string> {
  const listeners = Object.entries(ports).flatMap(([role, port]) => [
    [`${role.toUpperCase()}_PORT`, String(port)],
    [`${role.toUpperCase()}_METRICS_LISTEN`, 'none'],
  ])
  return { EDGE_HTTP_PORT: '0', ...Object.fromEntries(listeners) }
}

/** Bravo takes the callers of alpha as those of an identity provider, with fewer rights: nobody of alpha administers it. */
function buildBravoSections(edge: string, ports: DemoPorts, ca_file: string): ProfileSections {
  return {
    identity: { provider: 'oidc' },
    sso: {
      issuer: 'urn:platform:site:alpha',
      wellknown: `${edge}/.well-known/openid-configuration`,
      ca_file,
      audience: 'resolution-service',
      client_id: 'bravo',
      role_map: { analyst: ['analyst'], admin: ['analyst'] },
    },
    gateway_client: { url: edge, ca_file },
    // Behind the edge of alpha, which ends TLS on this machine, and its own one.
    edge: { trusted_proxy_depth: 1 },
    gateway: { mcp_url: `https://${bravo_host}:${ports.edge}`, trusted_proxy_depth: 2 },
  }
}

type BravoFiles = { readonly ports: DemoPorts; readonly records: string; readonly secret_file: string }

function buildBravoDaemon({ ports, records, secret_file }: BravoFiles): DemoDaemon {
  const { resolution, bravo_site: site, bravo_gateway: gateway, bravo_edge } = ports
  return {
    roles: ['site', 'resolution', 'gateway', 'edge'],
    env: {
      ...buildListeners({ site, resolution, gateway, edge: bravo_edge }),
      RESOLUTION_PUBLIC_URL: `http://127.0.0.1:${resolution}`,
      RESOLUTION_DATA_FOLDER: records,
      SSO_CLIENT_SECRET_FILE: secret_file,
    },
  }
}
