// Names of the servers that the gateway runs itself: nobody else registers them, and they displace nobody.
import { expect, test } from 'vitest'
import type { StoredService } from '../registered-service/model.ts'
import type { SiteRouting } from '../route/model.ts'
import { checkName, isFresh, isReservedName, mayRenew, type RegistrationRequest } from './rules.ts'

const routing = { backends: new Map(), options: { objects: {} }, own_subject: undefined } as unknown as SiteRouting
const terms = { registrants: { maps: 'svc' }, stdio_servers: new Set(['maps']), routing }

const requestOf = (
  source: RegistrationRequest['source'],
  url: string,
  subject = 'role:gateway',
): RegistrationRequest => ({
  ...{ name: 'maps', url, component_kind: 'library', ttl_seconds: 60, source, subject },
})
const storedBy = ({ url, source, subject }: RegistrationRequest) =>
  ({ url, source, registered_by: subject, component_kind: 'library', state: 'live', info_ts: 0 }) as StoredService

const stdio = requestOf('stdio', 'stdio://maps/1')
const pull = requestOf('pull', 'http://maps:1')
const push = requestOf('push', 'http://maps:1', 'svc')

test('only the gateway registers the name of its own server', () => {
  expect(isReservedName('maps', terms)).toBe(true)
  expect(checkName(stdio, terms)).toBeUndefined()
  for (const request of [pull, push])
    expect(checkName(request, terms)).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('stdio_servers'),
    })
})

test('a process and a service at a URL never renew each other, for any registrant', () => {
  expect(mayRenew(storedBy(pull), stdio)).toBe(false)
  expect(mayRenew(storedBy(stdio), pull)).toBe(false)
  expect(mayRenew(storedBy({ ...push, subject: 'role:gateway' }), stdio)).toBe(false)
})

test('a server with another command takes the place of the former, and is described at each renewal', () => {
  expect(mayRenew(storedBy(stdio), requestOf('stdio', 'stdio://maps/2'))).toBe(true)
  expect(isFresh(storedBy(stdio), stdio, 1)).toBe(false)
  expect(isFresh(storedBy(push), push, 1)).toBe(true)
})
