// URLs of requests to targets, whatever the values are that their paths take.
import { expect, test } from 'vitest'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import { urlWithin } from './open-target.ts'

const target = {
  ...{ name: 'signals', base: new URL('https://site.test/api/'), max_bytes: 1, timeout_ms: 1, is_answer_kept: true },
  ...{ rule: { refusal: () => undefined }, authorization: undefined, ca: undefined },
}

test('a path is below the target', () => {
  expect(urlWithin(target, 'v1/signal').href).toBe('https://site.test/api/v1/signal')
  expect(urlWithin(target, 'v1/signal?of=a//b').search).toBe('?of=a//b')
  expect(urlWithin(target, '').href).toBe('https://site.test/api/')
})

test.each(['v1/signal/', 'v1//close', '/admin', '..', 'v1/../../admin', 'v1/%2e%2e', '..%2fadmin', 'v1/%5cadmin'])(
  'a path that a value leads elsewhere gets no request: %s',
  (path) => {
    expect(() => urlWithin(target, path)).toThrow(RowSourceError)
  },
)
