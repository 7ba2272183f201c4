// Both forms of AGENTSPACE_URL that document 000 has lead to the same two places.
import { expect, test } from 'vitest'
import { readAgentspaceUrl } from './agentspace-url.ts'

test.each([
  ['http://agentspace.cluster.local', 'http://agentspace.cluster.local/', 'http://agentspace.cluster.local/agentspace'],
  ['https://site.example/agentspace', 'https://site.example/', 'https://site.example/agentspace'],
  ['https://site.example/agentspace/', 'https://site.example/', 'https://site.example/agentspace'],
  [
    'https://site.example:8443/ai/agentspace',
    'https://site.example:8443/ai',
    'https://site.example:8443/ai/agentspace',
  ],
])('%s has its chat below %s and its tools at %s', (AGENTSPACE_URL, root, tools) => {
  const address = readAgentspaceUrl({ AGENTSPACE_URL })
  expect([address?.root.href, address?.tools.href]).toEqual([root, tools])
})

test.each(['agentspace', 'ftp://site.example', 'https://u:p@site.example', 'https://site.example/?a=b'])(
  '%s is refused',
  (AGENTSPACE_URL) => {
    expect(() => readAgentspaceUrl({ AGENTSPACE_URL })).toThrow('AGENTSPACE_URL must be')
  },
)

test('an environment without it names no gateway', () => {
  expect([readAgentspaceUrl({}), readAgentspaceUrl({ AGENTSPACE_URL: '' })]).toEqual([undefined, undefined])
})
