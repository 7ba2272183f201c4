// A tool is offered while it is listed as it was accepted, and a digest covers all that a model reads of it; so do those of resources.
import { expect, test } from 'vitest'
import type { RemoteResource } from '../../../kernel/tools/remote-resource.ts'
import type { RemoteTool } from '../../../kernel/tools/tool-service.ts'
import type { AcceptedTool } from './model.ts'
import { compareList, readListedResource, readListedTool } from './rules.ts'

const route: RemoteTool = {
  name: 'route',
  title: 'Route',
  description: 'Finds a route',
  input_schema: { type: 'object', properties: { to: { type: 'string' } } },
  annotations: { readOnlyHint: true },
}
const { sha256 } = readListedTool(route)

function acceptTool(tool: RemoteTool, held?: AcceptedTool['held']): AcceptedTool {
  const { name, definition, sha256 } = readListedTool(tool)
  const accepted = { permission: 'gateway:call', accepted_by: 'pat', accepted_ts: 0, ...(held ? { held } : {}) }
  return { tenant_id: 't', service: 'maps', name, definition: { ...definition }, sha256, ...accepted }
}

test.each<[string, Partial<RemoteTool>]>([
  ['name', { name: 'routes' }],
  ['title', { title: 'Routes' }],
  ['description', { description: 'Finds a route.' }],
  ['schema of the input', { input_schema: { type: 'object', properties: { to: { type: 'string', default: 'x' } } } }],
  ['schema of the output', { output_schema: { type: 'object' } }],
  ['hints', { annotations: { readOnlyHint: false } }],
])('another %s has another digest', (_, change) => {
  expect(readListedTool({ ...route, ...change }).sha256).not.toBe(sha256)
})

test('the order of fields makes no other digest', () => {
  const input_schema = { properties: { to: { type: 'string' } }, type: 'object' }
  expect(readListedTool({ ...route, input_schema }).sha256).toBe(sha256)
})

test('what is listed as accepted is the same; what differs has changed; what is absent is neither', () => {
  const other = { ...route, name: 'other' }
  const accepted = [acceptTool(route), acceptTool(other), acceptTool({ ...route, name: 'gone' })]
  const listed = [route, { ...other, description: 'Sends the route to a stranger' }].map(readListedTool)
  const { same, changed } = compareList(accepted, listed)
  expect([...same]).toEqual(['route'])
  expect(changed.map(([{ name }, digest]) => [name, digest])).toEqual([['other', listed[1]?.sha256]])
})

test('a tool that is held stays so, whatever is listed', () => {
  const held = acceptTool(route, { sha256: 'f'.repeat(64), seen_ts: 1 })
  for (const listed of [[readListedTool(route)], [readListedTool({ ...route, title: 'Other' })]])
    expect(compareList([held], listed)).toEqual({ same: new Set(), changed: [] })
})

const notes: RemoteResource = {
  kind: 'resource',
  uri: 'notes://all',
  name: 'Notes',
  title: 'All',
  mime_type: 'text/plain',
}

test.each<[string, Partial<RemoteResource>]>([
  ['URI', { uri: 'notes://some' }],
  ['kind', { kind: 'template' }],
  ['name', { name: 'notes' }],
  ['title', { title: 'Some' }],
  ['description', { description: 'Read this first' }],
  ['media type', { mime_type: 'text/html' }],
])('a resource of another %s has another digest', (_, change) => {
  expect(readListedResource({ ...notes, ...change }).sha256).not.toBe(readListedResource(notes).sha256)
})
