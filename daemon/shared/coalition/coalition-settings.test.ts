// Validation of coalition settings, and labels that may be published to the feed.
import { describe, expect, test } from 'vitest'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import type { Label } from '../../kernel/label/label.ts'
import { coalitionSettings, findCoalitionFault, mayPublishToFeed } from './coalition-settings.ts'

const read = (feedSettings: object) => coalitionSettings.schema.parse(feedSettings)
const isAccepted = (hub_url: string) => parseWithSchema(coalitionSettings.schema, { hub_url }).success

test('a hub URL needs TLS, or is on this machine', () => {
  for (const url of ['https://hub.example', 'http://127.0.0.1:8410', 'http://localhost:8410/x', 'http://[::1]:8410'])
    expect(isAccepted(url), url).toBe(true)
  for (const url of [
    'http://hub.example',
    'http://127.0.0.1.example',
    'http://localhost.example',
    'https://node:secret@hub.example',
    'ftp://127.0.0.1',
    'hub',
  ])
    expect(isAccepted(url), url).toBe(false)
})

test('a hub needs credentials, and peers need a hub', () => {
  const hub_url = 'https://hub.example'
  expect(findCoalitionFault(read({}))).toBeUndefined()
  expect(findCoalitionFault(read({ hub_url }))).toBe('hub_url needs token_url and secret_file')
  expect(findCoalitionFault(read({ hub_url, token_url: hub_url }))).toBe('hub_url needs secret_file')
  expect(findCoalitionFault(read({ hub_url, token_url: hub_url, secret_file: 's' }))).toBeUndefined()
  expect(findCoalitionFault(read({ peers: ['bravo'] }))).toBe(
    'peers are set without hub_url; set hub_url or remove peers',
  )
})

describe('the feed', () => {
  const policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }
  const label = (overrides: Partial<Label> = {}): Label => ({
    ...{ policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha', releasable_to: ['COALITION'] },
    ...overrides,
  })
  const settings = { hub_url: 'https://hub.example', feed_level: 'UNCLASSIFIED', feed_audience: ['COALITION'] }

  test('publishes sessions up to its level and releasable to its readers', () => {
    expect(mayPublishToFeed(label(), settings, policy)).toBe(true)
    expect(mayPublishToFeed(label({ level: 'RESTRICTED' }), settings, policy)).toBe(false)
    expect(mayPublishToFeed(label({ level: 'RESTRICTED' }), { ...settings, feed_level: 'RESTRICTED' }, policy)).toBe(
      true,
    )
  })

  test.each([
    ['a category', label({ categories: ['NOVA'] }), settings],
    ['another policy', label({ policy: 'OTHER' }), settings],
    ['an unknown level', label({ level: 'COSMIC' }), settings],
    ['a label for others', label({ releasable_to: ['bravo'] }), settings],
    ['a label for nobody else', label({ releasable_to: undefined }), settings],
    ['an audience that is not named', label(), { ...settings, feed_audience: [] }],
    ['a feed level that the policy does not have', label(), { ...settings, feed_level: 'COSMIC' }],
    ['no hub', label(), { ...settings, hub_url: undefined }],
  ])('never publishes %s', (_, sessionLabel, feedSettings) => {
    expect(mayPublishToFeed(sessionLabel, feedSettings, policy)).toBe(false)
  })
})
