// A real Prometheus over real sites, by the configurations, the alerts and the dashboard as they are shipped.
import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { stringify } from 'yaml'
import { roles } from '../../../daemon/roles.ts'
import { runCommand } from '../../support/command/run-command.ts'
import { alertRulesDocument, readAlertRules } from '../../support/documents/alert-rules.ts'
import { listDashboardQueries, readDashboard } from '../../support/documents/dashboard.ts'
import {
  readNodeExporterCommand,
  readScrapeConfiguration,
  readTlsConfiguration,
  type ScrapeConfiguration,
  type ScrapeJob,
} from '../../support/documents/scrape-examples.ts'
import { type Prometheus, prometheus, prometheusRequirement } from '../../support/engines/prometheus.ts'
import { createEngineFolder } from '../../support/engines/server-process.ts'
import { causeAlerts, causeConditions, unmadeAlerts } from '../../support/monitoring/cause-alerts.ts'
import { causeEvents, requestEdge } from '../../support/monitoring/cause-events.ts'
import { type MonitoredSites, startMonitoredSites } from '../../support/monitoring/monitored-sites.ts'
import { repositoryRoot } from '../../support/repository/source-tree.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import type { TestSite } from '../../support/site/test-site.ts'

/** Never a synchronous one: the sites run in this process, and would not answer meanwhile. */
const run = promisify(execFile)

const where = whenPresent(prometheusRequirement)
/** For scrapes and evaluations of rules once a second, on a machine that does much else. */
const patience = { timeout: 60_000, interval: 250 }

const { folder, dispose } = createEngineFolder('monitoring')
const file = (name: string) => path.join(folder, name)
let sites: MonitoredSites
let server: Prometheus

beforeAll(async () => {
  if (!prometheusRequirement.isPresent) return
  sites = await startMonitoredSites()
  await causeEvents(sites)
  await causeConditions(sites)
  const [job] = placeShippedJob().scrape_configs
  const intervals = { scrape_interval: '1s', evaluation_interval: '1s' }
  const scrape_configs = [job, placeTlsJob()]
  copyFileSync(path.join(repositoryRoot, alertRulesDocument), file(path.basename(alertRulesDocument)))
  writeFileSync(file('platform.token'), await mintDocumentedToken(sites.alpha))
  writeFileSync(file('charlie.token'), await mintDocumentedToken(sites.charlie))
  writeFileSync(file('prometheus.yml'), stringify({ ...readScrapeConfiguration(), global: intervals, scrape_configs }))
  server = await prometheus(file('prometheus.yml'))
  await server.start()
  // A rate needs an event between two scrapes.
  await vi.waitFor(async () => expect(await listUp()).toContain('platform edge'), patience)
  await requestEdge(sites)
})
afterAll(async () => {
  await server?.end()
  await sites?.end()
  dispose()
})

/** As the guide mints it. */
async function mintDocumentedToken(site: TestSite): Promise<string> {
  const words = ['token', 'mint', '--subject', 'prometheus', '--roles', 'auditor', '--ttl', '30d']
  const minted = await runCommand([...words, '--site', path.dirname(site.folder.profile)])
  expect(minted, minted.stderr).toMatchObject({ exit: 0 })
  return minted.stdout
}

/** The shipped job at the addresses of alpha. */
function placeShippedJob(): ScrapeConfiguration {
  const documented = readScrapeConfiguration()
  const [job] = documented.scrape_configs
  const static_configs = job.static_configs.map(({ labels }) => {
    const port = (sites.ports[labels.role] ?? 0) + 1_000
    return { targets: [`127.0.0.1:${port}`] as [string], labels }
  })
  return { ...documented, scrape_configs: [{ ...job, static_configs }] }
}

/** The example for TLS, as the job of a further site: charlie, of the roles that it runs. */
function placeTlsJob(): ScrapeJob {
  const [job] = readTlsConfiguration().scrape_configs
  const running = job.static_configs.filter(({ labels: { role } }) => role === 'site' || role === 'consensus')
  const static_configs = running.map(({ labels }) => {
    const target = sites.charlie.url(labels.role).replace('https://', '')
    return { targets: [target] as [string], labels }
  })
  const { ca: ca_file, cert: cert_file, key: key_file } = sites.certificates.of('prometheus')
  const credentials = { authorization: { credentials_file: 'charlie.token' } }
  return {
    ...job,
    job_name: 'platform-charlie',
    ...credentials,
    tls_config: { ca_file, cert_file, key_file },
    static_configs,
  }
}

const listUp = async () =>
  (await server.query('up == 1')).map(({ labels }) => `${labels.job} ${labels.role}`).toSorted()
const everyRole = roles.map(({ name }) => `platform ${name}`).toSorted()

where('promtool accepts the configuration', async () => {
  expect((await run('promtool', ['check', 'config', file('prometheus.yml')])).stdout).toContain('SUCCESS')
})

where('scrapes every role, those of another site over TLS with a certificate of the client', async () => {
  const charlies = ['platform-charlie consensus', 'platform-charlie site']
  await vi.waitFor(
    async () => expect(await listUp(), await server.explainScrapes()).toEqual([...everyRole, ...charlies].toSorted()),
    patience,
  )
})

where('loads every shipped rule, and evaluates it without a fault', async () => {
  const evaluate = async () => new Map((await server.listRules()).map(({ name, fault }) => [name, fault]))
  const sound = new Map(readAlertRules().map(({ alert }) => [alert, undefined]))
  await vi.waitFor(async () => expect(await evaluate()).toEqual(sound), patience)
})

/** What alerts follow from one scrape to the next. */
const countersThatRise = [
  'http_requests_total{status="401"}',
  'http_requests_total{status="503"}',
  'consensus_dissent_total',
  'proxy_request_total{reason="upstream_unreachable"}',
]

where('each alert holds under its condition, or is listed with the reason why a test does not make it', async () => {
  for (const first of countersThatRise) {
    await vi.waitFor(async () => expect(await server.query(first), first).not.toEqual([]), patience)
  }
  await causeAlerts(sites)
  const rules = readAlertRules().filter(({ alert }) => alert !== 'PlatformRoleDown')
  const listHeld = async () => {
    const held = await Promise.all(rules.map(async ({ expr }) => (await server.query(expr)).length > 0))
    return rules.filter((_, at) => held[at]).map(({ alert }) => alert)
  }
  const expected = rules.map(({ alert }) => alert).filter((alert) => !Object.hasOwn(unmadeAlerts, alert))
  await vi.waitFor(async () => expect(await listHeld()).toEqual(expected), patience)
})

const queries = listDashboardQueries(readDashboard(), '10m')

where.for(queries)('draws "$panel" $refId from the metrics of the site', async ({ expression }) => {
  const read = async () => (await server.query(expression)).filter(({ value }) => Number.isFinite(value))
  await vi.waitFor(async () => expect(await read(), expression).not.toEqual([]), patience)
})

where('the node exporter gets the metrics of a socket by the documented command', async () => {
  const token = file('platform.token')
  const command = readNodeExporterCommand()
    .replaceAll('/var/lib/platform', path.dirname(sites.alpha.folder.profile))
    .replaceAll('/var/lib/prometheus/node-exporter', folder)
    .replaceAll(' platform.token', ` ${token}`)
  await run('bash', ['-c', command])
  expect(readFileSync(file('platform-site.prom'), 'utf8')).toContain('\nsite_accreditation_end_seconds{')
})

where('a role that ends raises the alert that names it', async () => {
  await sites.alpha.stop()
  const [rule] = readAlertRules().filter(({ alert }) => alert === 'PlatformRoleDown')
  const listDown = async () =>
    (await server.query(rule?.expr ?? '')).map(({ labels }) => `${labels.job} ${labels.role}`)
  await vi.waitFor(async () => expect((await listDown()).toSorted()).toEqual(everyRole), patience)
})
