// The two sites of the demo of the gateway: alpha has the edge and the gateway, and bravo registers a role of its own there.
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
  const pem_file = offline.certificateOf(offline.siteFolder(alphaDir))
  const alphaSections = buildAlphaSections({ edge, secret_file, pem_file })
  const folder = await makeDemoSite(alphaDir, 'alpha', { tenant_id, sections: alphaSections })
  const { ca, ca_file } = await issueEdgeCertificate(folder, dir)
  const alpha = await startDemoSite(alphaDir, 'alpha', buildAlphaDaemon(edge, ports), signal)
  running.push(alpha)

  await makeDemoSite(bravoDir, 'bravo', { tenant_id, sections: buildBravoSections(edge, ca_file) })
  const records = join(dir, 'records')
  mkdirSync(records, { mode: 0o700 })
  const people_file = await writePeople('bravo', records, tenant_id)
  const daemon = buildBravoDaemon({ port: ports.resolution, records, secret_file })
  const startBravo = async () => {
    const bravo = await startDemoSite(bravoDir, 'bravo', daemon, signal)
    running.push(bravo)
    return bravo
  }
  const bravo = await startBravo()
  const { readLens } = await offline.lenses()
  await bravo.analyst.call('resolution.lens.create', { body: readLens(demo_lens) })
  const sites: GatewaySites = {
    ...{ alpha, bravo, edge: new URL(edge), ca, ca_file, people_file },
    async restartBravo() {
      sites.bravo = await startBravo()
    },
  }
  return sites
}

const portNames = ['edge', 'gateway', 'site', 'intelligence', 'resolution'] as const
type PortName = (typeof portNames)[number]

/** Before the start: the routing table needs them, and a site that is killed comes back where it was. */
async function choosePorts(): Promise<Record<PortName, number>> {
  const chosen = await findFreePorts(portNames.length)
  return Object.fromEntries(portNames.map((name, index) => [name, chosen[index]])) as Record<PortName, number>
}

/** By the authority of the site itself, as for its peers: certificate and key are in one file. */
async function issueEdgeCertificate(folder: SiteFolder, dir: string) {
  const { makeSiteAuthority } = await offline.authority()
  const { issueSiteCertificate } = await offline.certificate()
  const [now, days, passphrase] = [Date.now(), certificate_days, undefined]
  const authority = await makeSiteAuthority(folder, {}, { name: 'alpha', days, now, passphrase, replace: false })
  await issueSiteCertificate(folder, {}, ['127.0.0.1'], { days, now, passphrase: () => passphrase })
  const ca = authority.certificate.toString()
  const ca_file = join(dir, 'authority.pem')
  writeFileSync(ca_file, ca, { mode: 0o600 })
  return { ca, ca_file }
}

type ProfileSections = Readonly<Record<string, object>>

type AlphaFiles = { readonly edge: string; readonly secret_file: string; readonly pem_file: string }

function buildAlphaSections({ edge, secret_file, pem_file }: AlphaFiles): ProfileSections {
  const services = Object.keys(demoRegistrants)
  return {
    edge: { tls_cert_file: pem_file, tls_key_file: pem_file },
    gateway: { registrants: demoRegistrants, mcp_url: edge, trusted_proxy_depth: 1 },
    identity: {
      clients: [
        { client_id: 'bravo', secret_file, subject: demoRegistrants['resolution-service'], roles: ['service'] },
      ],
      audiences: Object.fromEntries(services.map((name) => [name, ['gateway']])),
    },
  }
}

function buildAlphaDaemon(edge: string, ports: Readonly<Record<PortName, number>>): DemoDaemon {
  const roles = ['site', 'intelligence', 'gateway', 'edge']
  return {
    roles,
    env: {
      SITE_PUBLIC_URL: edge,
      EDGE_HTTP_PORT: '0',
      ...Object.fromEntries(
        (['site', 'intelligence', 'gateway', 'edge'] as const).flatMap((role) => [
          [`${role.toUpperCase()}_PORT`, String(ports[role])],
          [`${role.toUpperCase()}_METRICS_LISTEN`, 'none'],
        ]),
      ),
    },
  }
}

/** Bravo takes the callers of alpha as those of an identity provider, with fewer rights: nobody of alpha administers it. */
function buildBravoSections(edge: string, ca_file: string): ProfileSections {
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
  }
}

type BravoFiles = { readonly port: number; readonly records: string; readonly secret_file: string }

function buildBravoDaemon({ port, records, secret_file }: BravoFiles): DemoDaemon {
  return {
    roles: ['site', 'resolution'],
    env: {
      SITE_METRICS_LISTEN: 'none',
      RESOLUTION_METRICS_LISTEN: 'none',
      RESOLUTION_PORT: String(port),
      RESOLUTION_PUBLIC_URL: `http://127.0.0.1:${port}`,
      RESOLUTION_DATA_FOLDER: records,
      SSO_CLIENT_SECRET_FILE: secret_file,
    },
  }
}
