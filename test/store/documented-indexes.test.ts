// The documented index names of all roles: those of the interface documents, each with fields that can be queried.
import { expect, test } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import type { AnyCollection } from '../../daemon/kernel/store/store.ts'

const documented = everyRole.flatMap(({ collections }) =>
  (collections as readonly AnyCollection[]).flatMap(({ documented, ...rest }) =>
    documented ? [{ ...rest, ...documented }] : [],
  ),
)

test('the documented names are those of the interface documents', () => {
  expect([...new Set(documented.map(({ alias }) => alias))].sort()).toEqual([
    ...['data-ingest', 'fusion', 'guide_artifact_history', 'guide_artifacts', 'guide_audit', 'guide_graph_edges'],
    ...['guide_graph_nodes', 'guide_graph_snapshots', 'guide_lineage_events', 'guide_observations', 'guide_proposals'],
    ...['pipeline-scheduler', 'proxy', 'signal', 'workflow-metrics'],
  ])
  expect(documented.filter(({ alias }) => alias === 'fusion').map(({ name }) => name)).toHaveLength(5)
})

test('the fields of a signal and of a public request are those of the interface documents', () => {
  const fieldsOf = (alias: string) => Object.keys(documented.find((each) => each.alias === alias)?.fields ?? {})
  expect(fieldsOf('signal')).toEqual(['signal_id', 'status', 'severity', 'subject.id'])
  expect(fieldsOf('proxy')).toEqual(
    expect.arrayContaining(['source', 'method', 'path', 'verdict', 'upstream_status', 'status']),
  )
})

test.each(documented)('each documented field of $name is its id or indexed', ({ fields, indexes }) => {
  expect(Object.values(fields).filter((field) => field !== 'id' && !indexes.includes(field))).toEqual([])
})
