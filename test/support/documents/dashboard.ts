// The dashboard that the documentation ships: its panels, and its queries as Grafana would send them.
import * as z from 'zod'
import { readDocument } from './read-document.ts'

export const dashboardDocument = 'docs/grafana-dashboard.json'

const panel = z.looseObject({
  id: z.int(),
  type: z.enum(['row', 'stat', 'timeseries']),
  title: z.string(),
  gridPos: z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
  targets: z.array(z.looseObject({ expr: z.string(), refId: z.string() })).default([]),
})
const dashboard = z.looseObject({
  uid: z.string(),
  title: z.string(),
  panels: z.array(panel),
  templating: z.looseObject({ list: z.array(z.looseObject({ name: z.string(), query: z.unknown() })) }),
})
export type Dashboard = z.infer<typeof dashboard>
export type DashboardPanel = Dashboard['panels'][number]

export function readDashboard(): Dashboard {
  return dashboard.parse(JSON.parse(readDocument(dashboardDocument)))
}

/** The panels of each row, by its title. */
export function groupPanels({ panels }: Dashboard): Map<string, DashboardPanel[]> {
  const rows = new Map<string, DashboardPanel[]>()
  let title = ''
  for (const each of panels) {
    if (each.type === 'row') title = each.title
    else rows.set(title, [...(rows.get(title) ?? []), each])
  }
  return rows
}

export type DashboardQuery = { readonly panel: string; readonly refId: string; readonly expression: string }

/** Of all jobs and instances, with rates over `rate_interval`. */
export function listDashboardQueries({ panels, templating }: Dashboard, rate_interval: string): DashboardQuery[] {
  const variables = new RegExp(`\\$(${templating.list.map(({ name }) => name).join('|')})\\b`, 'g')
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ refId, expr }) => ({
      panel: title,
      refId,
      expression: expr.replaceAll('$__rate_interval', rate_interval).replaceAll(variables, '.*'),
    })),
  )
}
