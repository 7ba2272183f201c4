// Holds the shipped dashboard and alerts to the metrics, labels and commands that there are.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import type { AnyCommandDefinition } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { runDefinitions } from '../../cli/program/program.ts'
import type { Terminal } from '../../cli/terminal/terminal.ts'
import { parsePromqlNames } from '../support/documents/parse-promql-names.ts'
import { repositoryRoot } from '../support/repository/source-tree.ts'

const readDocument = (file: string) => readFileSync(path.join(repositoryRoot, file), 'utf8')

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
/** Metrics that a scrape adds. */
const scrapeNames = { metrics: ['up'], labels: ['job', 'instance'] }

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

const rule = z.strictObject({
  alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+[mhd]$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string().min(10), description: z.string().min(10) }),
})
const ruleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).min(1) })).min(1),
})
const { groups } = ruleFile.parse(parse(readDocument('docs/prometheus-alerts.yaml')))
const alerts = groups.flatMap(({ rules }) => rules)

/** The commands in texts of alerts, with a value for each label. */
function listAlertCommands(): string[] {
  const texts = alerts.flatMap(({ annotations: { summary, description } }) => [summary, description])
  const lines = texts.flatMap((text) => [...text.matchAll(/`platform (.+?)`/g)].map(([, line = '']) => line))
  return [...new Set(lines.map((line) => line.replaceAll(/\{\{.*?\}\}/g, 'bravo')))]
}

const silentTerminal: Terminal = {
  ...{ env: {}, isInteractive: false, canPrompt: false, hasColour: false, width: 120 },
  print: () => undefined,
  note: () => undefined,
  progress: () => undefined,
  prompt: async () => undefined,
  promptSecret: async () => undefined,
  readInput: async () => '',
}

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

  test('names each alert once', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
  })
})

const panel = z.looseObject({
  id: z.int(),
  type: z.enum(['row', 'stat', 'timeseries']),
  title: z.string(),
  gridPos: z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
  targets: z.array(z.looseObject({ expr: z.string(), refId: z.string() })).optional(),
})
const dashboard = z
  .looseObject({
    uid: z.string(),
    title: z.string(),
    panels: z.array(panel),
    templating: z.looseObject({ list: z.array(z.looseObject({ name: z.string(), query: z.unknown() })) }),
  })
  .parse(JSON.parse(readDocument('docs/grafana-dashboard.json')))

describe('docs/grafana-dashboard.json', () => {
  const drawn = dashboard.panels.filter(({ type }) => type !== 'row')
  test.each(drawn.map((one) => [one.title, one] as const))('"%s" draws what there is', (_, { targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0)
    for (const { expr } of targets) expectKnown(expr.replaceAll('$__rate_interval', '5m'))
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

test('observability.md lists every metric that is declared', () => {
  const text = readDocument('docs/observability.md')
  const own = [...metrics.keys()].filter((name) => !/^(nodejs|process)_|_(bucket|count|sum)$/.test(name))
  expect(own.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
