// The command that shows what a pane shows, and the one for a row of it.
import type { ApiObject } from '../client/client.ts'
import type { PaneName } from './view.ts'

export const paneCommands: Readonly<Record<PaneName, string>> = {
  roles: 'platform status',
  sessions: 'platform consensus list',
  pipelines: 'platform ingest pipelines',
  channels: 'platform filedrop status',
  denials: 'platform proxy denials',
  guidance: 'platform guide stats',
  services: 'platform gateway services',
  tools: 'platform gateway tools',
  quotas: 'platform gateway quotas',
  decisions: 'platform gateway decisions',
}

/** Empty: the command of the pane shows the row as well. */
type RowCommand = readonly [name?: unknown, command?: string]

/** By kind of a row of guidance. */
const guidanceCommands: Readonly<Record<string, (name: unknown, artifact_id: unknown) => RowCommand>> = {
  artifact: (id) => [id, `platform guide show ${id}`],
  held: (_, artifact_id) => [artifact_id, `platform guide show ${artifact_id}`],
  scope: (scope) => [scope, `platform guide preview --scope ${scope}`],
}

const rowCommands: Readonly<Partial<Record<PaneName, (item: ApiObject) => RowCommand>>> = {
  sessions: ({ id }) => [id, `platform consensus get ${id}`],
  pipelines: ({ dag_id }) => [dag_id, `platform ingest show ${dag_id}`],
  guidance: ({ kind, name, artifact_id }) => guidanceCommands[String(kind)]?.(name, artifact_id) ?? [],
  services: ({ name }) => [name, `platform gateway show ${name}`],
  tools: ({ service }) => [service, `platform gateway review ${service}`],
  quotas: ({ subject }) => [subject, `platform gateway quotas --subject ${subject}`],
  decisions: ({ subject }) => [subject, `platform gateway decisions --subject ${subject}`],
}

/** A name that a shell reads as one word, and a command not as an option: a person may paste it. */
const plainName = /^[A-Za-z0-9_][\w.@:/+-]*$/

export function buildRowCommand(pane: PaneName, item: ApiObject): string {
  const [name, command] = rowCommands[pane]?.(item) ?? []
  return command !== undefined && plainName.test(String(name)) ? command : paneCommands[pane]
}
