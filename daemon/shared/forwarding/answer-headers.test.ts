// Headers of responses for clients.
import { expect, test } from 'vitest'
import { buildAnswerHeaders } from './answer-headers.ts'

const owner = [
  'server',
  'nginx',
  'content-type',
  'text/plain',
  'set-cookie',
  'a=b',
  'set-cookie',
  'c=d',
  'alt-svc',
  'h3',
]

test('the name of the server and its other ports stay inside, cookies pass', () => {
  const kept = ['content-type', 'text/plain', 'set-cookie', 'a=b', 'set-cookie', 'c=d']
  expect(buildAnswerHeaders(owner, 'http')).toEqual(kept)
  expect(buildAnswerHeaders(owner, 'https')).toEqual([...kept, 'strict-transport-security', 'max-age=31536000'])
})

test('a value that looks like a name is none', () => {
  expect(buildAnswerHeaders(['x', 'server', 'y', 'strict-transport-security'], 'http')).toHaveLength(4)
})

test('over TLS the owner may decide how long https alone is used', () => {
  const own = ['strict-transport-security', 'max-age=1']
  expect(buildAnswerHeaders(own, 'https')).toEqual(own)
})
