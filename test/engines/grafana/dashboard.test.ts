// The shipped dashboard against the types that Grafana publishes: each field is one that Grafana knows, with a value that it takes.
import { execFile } from 'node:child_process'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { dashboardDocument } from '../../support/documents/dashboard.ts'
import { readDocument } from '../../support/documents/read-document.ts'
import { createEngineFolder } from '../../support/engines/server-process.ts'
import { repositoryRoot } from '../../support/repository/source-tree.ts'
import { whenPresent } from '../../support/runner/requires.ts'

/** A folder `node_modules` with @grafana/schema; `.ci/run` installs it. */
const schemaFolder = process.env.GRAFANA_SCHEMA ?? ''
const where = whenPresent({
  isPresent: schemaFolder !== '' && existsSync(path.join(schemaFolder, '@grafana/schema/package.json')),
  name: '@grafana/schema',
  hint: 'GRAFANA_SCHEMA names no folder with it',
})

const compilerOptions = [
  ...['--noEmit', '--strict', '--skipLibCheck'],
  ...['--module', 'esnext', '--moduleResolution', 'bundler'],
]

/** JSON has the values of an enumeration, not its names. Options are those of the type of the panel. */
const dashboardType = `
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen'
import type { Options as TimeSeriesOptions } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'
import type { Dashboard, Panel, RowPanel } from '@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen'

type Json<T> = T extends string ? \`\${T}\` : T extends readonly (infer E)[] ? Json<E>[]
  : T extends object ? { [K in keyof T]: Json<T[K]> } : T
type DrawnPanel<Type extends string, Options> = Omit<Json<Panel>, 'type' | 'options'> & {
  type: Type
  options: Json<Partial<Options>>
}
type ShippedPanel = Json<RowPanel> | DrawnPanel<'stat', StatOptions> | DrawnPanel<'timeseries', TimeSeriesOptions>
type ShippedDashboard = Omit<Json<Dashboard>, 'panels'> & { panels: ShippedPanel[] }
export const dashboard: ShippedDashboard = `

const { folder, dispose } = createEngineFolder('grafana')
beforeAll(() => {
  if (schemaFolder !== '') symlinkSync(schemaFolder, path.join(folder, 'node_modules'))
})
afterAll(dispose)

/** What the compiler says of a dashboard; empty if it is one. */
async function findTypeFaults(name: string, text: string): Promise<string> {
  const file = path.join(folder, `${name}.ts`)
  writeFileSync(file, dashboardType + text)
  const compiler = path.join(repositoryRoot, 'node_modules/.bin/tsc')
  const ended = await promisify(execFile)(compiler, [...compilerOptions, file], { cwd: folder }).catch(
    (error: { stdout?: string }) => error,
  )
  return ended.stdout ?? 'the compiler did not run'
}

const text = readDocument(dashboardDocument)

where('is a dashboard by the types of Grafana', async () => {
  expect(await findTypeFaults('shipped', text)).toBe('')
})

where.each([
  ['an unknown field', '"unit":', '"units":', 'units'],
  ['an option that another panel has', '"tooltip":', '"textMode":', 'textMode'],
  ['a value of no enumeration', '"displayMode": "list"', '"displayMode": "lists"', 'lists'],
  ['a panel of no known type', '"type": "stat"', '"type": "stats"', 'stats'],
])('refuses %s', async (title, from, to, named) => {
  expect(text).toContain(from)
  expect(await findTypeFaults(title.replaceAll(' ', '-'), text.replace(from, to))).toContain(named)
})
