// Holds the shipped dashboard and alerts to the metrics, labels and commands that there are.
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import type { AnyCommandDefinition } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { runDefinitions } from '../../cli/program/program.ts'
import type { Terminal } from '../../cli/terminal/terminal.ts'
import { internal_port_offset } from '../../daemon/kernel/role/configured-listener.ts'
import { roles } from '../../daemon/roles.ts'
import { listAlertCommands, readAlertRules } from '../support/documents/alert-rules.ts'
import { groupPanels, readDashboard } from '../support/documents/dashboard.ts'
import { parsePromqlNames } from '../support/documents/parse-promql-names.ts'
import { readDocument } from '../support/documents/read-document.ts'
import { readMetricsAddresses, readScrapeConfiguration } from '../support/documents/scrape-examples.ts'
import { unmadeAlerts } from '../support/monitoring/cause-alerts.ts'

/** Name to labels, as the roles expose them. */
const metrics = new Map<string, readonly string[]>(
  [...readDocument('test/golden/metrics.txt').matchAll(/^(\w+)\{(.*?)\} (\w+):/gm)].flatMap(
    ([, name = '', listed = '', kind]) => {
      const labels = listed === '' ? [] : listed.split(',')
      const all: [string, string[]][] = [[name, labels]]
      if (kind === 'histogram') {
        all.push([`${name}_bucket`, [...labels, 'le']], [`${name}_count`, labels], [`${name}_sum`, labels])
      }
      return all
    },
  ),
)
/** Metrics that a scrape adds, and the label of the shipped configuration. */
const scrapeNames = { metrics: ['up'], labels: ['job', 'instance', 'role'] }

/** The rest of the brackets when each pair is taken away. */
function stripBrackets(expression: string): string {
  let left = expression.replaceAll(/"[^"]*"/g, '').replaceAll(/[^()[\]{}]/g, '')
  for (let before = ''; before !== left; ) {
    before = left
    left = left.replaceAll(/\(\)|\[\]|\{\}/g, '')
  }
  return left
}

function expectKnown(expression: string): void {
  const { metrics: read, labels } = parsePromqlNames(expression)
  expect(stripBrackets(expression), expression).toBe('')
  expect(read.length, expression).toBeGreaterThan(0)
  expect(read.filter((name) => !metrics.has(name) && !scrapeNames.metrics.includes(name))).toEqual([])
  const known = new Set([...scrapeNames.labels, ...read.flatMap((name) => metrics.get(name) ?? [])])
  expect(labels.filter((label) => !known.has(label))).toEqual([])
}

const alerts = readAlertRules()

const silentTerminal: Terminal = {
  ...{ env: {}, isInteractive: false, canPrompt: false, hasColour: false, width: 120 },
  print: () => undefined,
  note: () => undefined,
  progress: () => undefined,
  prompt: async () => undefined,
  promptSecret: async () => undefined,
  readInput: async () => '',
  inputBytes: () => undefined,
}

const promtoolTests = z.looseObject({
  tests: z.array(z.looseObject({ alert_rule_test: z.array(z.looseObject({ alertname: z.string() })) })),
})

describe('docs/prometheus-alerts.yaml', () => {
  test.each(alerts.map((one) => [one.alert, one] as const))('%s reads what there is, and says what to do', (_, one) => {
    expectKnown(one.expr)
    const { labels } = parsePromqlNames(one.expr)
    const { summary, description } = one.annotations
    const read = parsePromqlNames(one.expr).metrics.flatMap((name) => metrics.get(name) ?? [])
    const mentioned = [...`${summary} ${description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
    expect(mentioned.filter((label) => ![...read, ...labels, ...scrapeNames.labels].includes(label))).toEqual([])
  })

  test.each(listAlertCommands())('names a command that can be typed as it stands: platform %s', async (line) => {
    const words = line.split(' ')
    const name = words
      .map((_, at) => words.slice(0, words.length - at).join(' '))
      .find((each) => each in commandCatalogue)
    const definition = await commandCatalogue[name as keyof typeof commandCatalogue]?.()
    if (!definition) throw new Error('there is no such command')
    const parsed = { ...definition.definition, run: async () => 0 } as AnyCommandDefinition
    expect(await runDefinitions([parsed], words, silentTerminal)).toBe(0)
  })

  test('is tested by promtool where a test makes no such site', () => {
    const { tests } = promtoolTests.parse(parse(readDocument('test/engines/prometheus/alert-tests.yaml')))
    const tested = tests.flatMap((each) => each.alert_rule_test.map(({ alertname }) => alertname))
    expect(Object.keys(unmadeAlerts).filter((alert) => !tested.includes(alert))).toEqual([])
    expect(Object.keys(unmadeAlerts).filter((name) => !alerts.some(({ alert }) => alert === name))).toEqual([])
  })

  test('names each alert once', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  })
})

const dashboard = readDashboard()

describe('docs/grafana-dashboard.json', () => {
  const drawn = dashboard.panels.filter(({ type }) => type !== 'row')
  test.each(drawn.map((one) => [one.title, one] as const))('"%s" draws what there is', (_, { targets }) => {
    expect(targets.length).toBeGreaterThan(0)
    for (const { expr } of targets) expectKnown(expr.replaceAll('$__rate_interval', '5m'))
  })

  test('has a row that draws what each role alone exposes', () => {
    const rows = [...groupPanels(dashboard).values()].map((panels) =>
      panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => parsePromqlNames(expr).metrics)),
    )
    const undrawn = roles.filter(({ name }) => {
      const own = listOwnMetrics(name)
      return !rows.some((drawn) => drawn.some((metric) => own.includes(metric)))
    })
    expect(undrawn.map(({ name }) => name)).toEqual([])
  })

  test('uses the variables that it has, and gives each panel a place of its own', () => {
    const own = dashboard.templating.list.map(({ name }) => name)
    const used = new Set([...JSON.stringify(dashboard.panels).matchAll(/\$\{?([a-z]\w*)/g)].map(([, name]) => name))
    expect([...used].sort()).toEqual(own.sort())
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = drawn.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(Math.max(...drawn.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24)
  })
})

/** Of the golden list: those that no other role has. */
function listOwnMetrics(role: string): string[] {
  const sections = new Map(
    readDocument('test/golden/metrics.txt')
      .split(/^# /m)
      .map((section) => [section.split('\n')[0], [...section.matchAll(/^(\w+)\{/gm)].map(([, name = '']) => name)]),
  )
  const others = [...sections].flatMap(([name, listed]) => (name === role ? [] : listed))
  return (sections.get(role) ?? []).filter((name) => !others.includes(name))
}

describe('the configuration of Prometheus', () => {
  const [job] = readScrapeConfiguration().scrape_configs
  const internalAddress = (port: number) => `127.0.0.1:${port + internal_port_offset}`

  test('has a target for each role, at its default address and with its name, which the alert for its end tells', () => {
    const expected = roles.map(({ name, listeners: [{ port }] }) => [name, internalAddress(port)])
    const targets = job.static_configs.map(({ targets: [target], labels: { role } }) => [role, target])
    expect(targets.sort()).toEqual(expected.sort())
    const down = alerts.find(({ alert }) => alert === 'PlatformRoleDown')
    expect(down?.annotations.summary).toContain('{{ $labels.role }}')
  })

  test('is explained with the address of each role in each profile', () => {
    const expected = roles.map(({ name, listeners: [{ port }], has_public_listener = false }) => ({
      role: name,
      inOpenProfiles: has_public_listener ? internalAddress(port) : String(port),
      inClosedProfiles: internalAddress(port),
    }))
    const byName = (a: { role: string }, b: { role: string }) => (a.role < b.role ? -1 : 1)
    expect(readMetricsAddresses().toSorted(byName)).toEqual(expected.toSorted(byName))
  })
})

test('observability.md lists every metric that is declared', () => {
  const text = readDocument('docs/observability.md')
  const own = [...metrics.keys()].filter((name) => !/^(nodejs|process)_|_(bucket|count|sum)$/.test(name))
  expect(own.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
