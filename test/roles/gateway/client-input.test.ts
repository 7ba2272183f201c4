// Input that tools of registered services require of clients: between every two revisions of the protocol, where an
// administrator has allowed it and the client is able to.
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { InputKind } from '../../../daemon/kernel/tools/client-input.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { list } from '../../../daemon/roles/gateway/service-tool/list.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { withdraw } from '../../../daemon/roles/gateway/service-tool/withdraw.ts'
import { type LibraryService, startLibraryService } from '../../support/mcp/library-service.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type GatewaySite, startGatewaySite } from './gateway-site.ts'

const asking = ['ask-both', 'ask-model', 'ask-page', 'ask-person']
const everything = { elicitation: { form: {}, url: {} }, sampling: {} }
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18']

type StatedAbilities = NonNullable<NonNullable<ConstructorParameters<typeof Client>[1]>['capabilities']>

describe.each(['2026-07-28', '2025-11-25'])('of a service that speaks %s', (spoken) => {
  let world: GatewaySite
  let service: LibraryService
  beforeAll(async () => {
    world = await startGatewaySite(
      {},
      {
        profile: {
          identity: { audiences: { maps: ['gateway'] } },
          guardrails: { rules: [{ name: 'no-codes', kinds: ['tool'], deny_patterns: ['code word'] }] },
        },
      },
    )
    service = await startLibraryService(spoken)
    service.serviceInfo = { name: 'maps', mcp_path: '/mcp', tools_count: 4 }
    for (const name of asking) await service.define(name, {})
    await world.register('svc-maps', 'maps', service.url.origin, 86_400)
  })
  afterAll(async () => {
    for (const client of clients) await client.close()
    await world?.site.end()
    await service?.close()
    expect(world?.site.loggedErrors ?? []).toEqual([])
  })

  const admin = () => world.site.as({ subject: 'pat', roles: ['admin'] })
  const allow = async (input: readonly InputKind[]) => {
    const { tools } = await (await admin()).ok(review, { name: 'maps' })
    const named = tools.flatMap(({ name, sha256 }) => (sha256 && asking.includes(name) ? [{ name, sha256 }] : []))
    const asRead = { name: 'maps', url: service.url.href, authentication: 'delegated' } as const
    await (await admin()).ok(accept, { ...asRead, input: [...input], tools: named })
  }

  const clients: Client[] = []
  const questions: string[] = []
  let route = 'north'
  beforeEach(() => {
    questions.length = 0
    route = 'north'
  })

  /** A client of the library that answers what it is questions. */
  async function connect(
    revision: string,
    capabilities: StatedAbilities = everything,
    subject = 'ann',
    more: ConstructorParameters<typeof Client>[1] = {},
  ) {
    const token = await world.site.token({ subject, roles: ['analyst'] })
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities,
        supportedProtocolVersions: [revision],
        versionNegotiation: { mode: revision >= '2026' ? { pin: revision } : 'legacy' },
        ...more,
      },
    )
    if (capabilities.elicitation)
      client.setRequestHandler('elicitation/create', ({ params }) => {
        questions.push(params.message)
        return { action: 'accept', ...(params.mode === 'url' ? {} : { content: { route } }) }
      })
    if (capabilities.sampling)
      client.setRequestHandler('sampling/createMessage', ({ params }) => {
        questions.push(JSON.stringify(params.messages))
        return { role: 'assistant', model: 'small', content: { type: 'text', text: route } }
      })
    const url = new URL('/agentspace', world.site.url('gateway'))
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: { token: async () => token } }))
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    clients.push(client)
    return client
  }

  const call = async (client: Client, name: string) =>
    await client.callTool({ name: `maps__${name}`, arguments: { from: 'here' } })

  describe('where nothing was allowed', () => {
    beforeAll(async () => {
      await allow([])
      const offered = async () => (await (await admin()).ok(list, {})).items.filter(({ state }) => state === 'offered')
      await waitUntil(async () => (await offered()).length === asking.length)
    })

    test.each(revisions)('a client of %s gets no request', async (revision) => {
      const client = await connect(revision)
      const answer = await call(client, 'ask-person').catch((error: Error) => ({ isError: true, error }))
      expect(answer.isError).toBe(true)
      expect(questions).toEqual([])
    })
  })

  describe('where both kinds were allowed', () => {
    beforeAll(async () => {
      await allow(['elicitation', 'sampling'])
      const client = await connect('2026-07-28')
      await waitUntil(async () => !(await call(client, 'ask-person')).isError)
    })

    test.each(revisions)('a client of %s answers for a person, under the name of the service', async (revision) => {
      const client = await connect(revision)
      const answer = await call(client, 'ask-person')
      expect(questions).toEqual(['maps: Which route?'])
      expect(answer.structuredContent).toEqual({
        state: '{"from":"here"}',
        answers: { person: { action: 'accept', content: { route: 'north' } } },
      })
    })

    test.each(revisions)('a client of %s answers with its model', async (revision) => {
      const client = await connect(revision)
      const answer = await call(client, 'ask-model')
      expect(questions).toEqual(['[{"role":"user","content":{"type":"text","text":"Name a route."}}]'])
      expect(answer.structuredContent).toMatchObject({
        answers: { model: { role: 'assistant', model: 'small', content: { type: 'text', text: 'north' } } },
      })
    })

    test.each(revisions)('a client of %s answers two requests of one call', async (revision) => {
      const client = await connect(revision)
      const answer = await call(client, 'ask-both')
      expect(questions).toHaveLength(2)
      expect(answer.structuredContent).toMatchObject({ answers: { person: {}, model: {} } })
    })

    test.each(['2026-07-28', '2025-11-25'])('a client of %s opens a page', async (revision) => {
      const client = await connect(revision)
      expect((await call(client, 'ask-page')).structuredContent).toMatchObject({
        answers: { page: { action: 'accept' } },
      })
      expect(questions).toEqual(['maps: Sign in'])
    })

    test.each(revisions)('a client of %s gets no request beyond its abilities', async (revision) => {
      const client = await connect(revision, { elicitation: {} })
      const answer = await call(client, 'ask-model').catch((error: Error) => ({ isError: true, error }))
      expect(answer.isError).toBe(true)
      // A service with sessions refuses inside of its tool, in its own words.
      if (spoken === '2026-07-28')
        expect(JSON.stringify(answer)).toMatch(
          /requires sampling\/createMessage, which the client of this call does not take/,
        )
      expect(questions).toEqual([])
      expect((await call(client, 'ask-person')).structuredContent).toMatchObject({ answers: { person: {} } })
    })

    test('a client that refuses the request of its session ends the call', async () => {
      const client = await connect('2025-11-25', { elicitation: {} })
      client.setRequestHandler('elicitation/create', () => {
        throw new ProtocolError(-1, 'not now')
      })
      expect(await call(client, 'ask-person')).toMatchObject({ isError: true })
    })

    test('input by another caller, or with another call, goes to no call that waits', async () => {
      const manual = { inputRequired: { autoFulfill: false } }
      const ann = await connect('2026-07-28', everything, 'ann', manual)
      const required = await ann.request(
        { method: 'tools/call', params: { name: 'maps__ask-person', arguments: { from: 'here' } } },
        { allowInputRequired: true },
      )
      const { requestState } = required as { requestState?: string }
      expect(requestState).toEqual(expect.any(String))
      const given = { requestState, inputResponses: { person: { action: 'cancel' }, 'input-1': { action: 'cancel' } } }
      const giveBy = async (client: Client, from: string) =>
        await client.request({
          method: 'tools/call',
          params: { name: 'maps__ask-person', arguments: { from }, ...given } as never,
        })
      // A service without sessions checks its own state: the gateway passes on what the caller says to it.
      if (spoken === '2025-11-25') {
        expect(await giveBy(await connect('2026-07-28', everything, 'eve'), 'here')).toMatchObject({ isError: true })
        expect(await giveBy(ann, 'there')).toMatchObject({ isError: true })
      }
      expect(await giveBy(ann, 'here')).toMatchObject({ structuredContent: { state: '{"from":"here"}' } })
    })

    test('a call that waits at its service for a person ends with the withdrawal of its tool, and does not wait', async () => {
      if (spoken !== '2025-11-25') return
      const client = await connect('2025-11-25', { elicitation: {} })
      client.setRequestHandler('elicitation/create', async () => {
        await (await admin()).ok(withdraw, { name: 'maps' })
        return await new Promise<never>(() => undefined)
      })
      try {
        await expect(call(client, 'ask-person')).rejects.toThrow('Unknown tool')
      } finally {
        await allow(['elicitation', 'sampling'])
        const other = await connect('2026-07-28')
        const isOffered = () => call(other, 'ask-person').then(Boolean, () => false)
        await waitUntil(isOffered)
      }
    })

    test.each(revisions)('input of a client of %s is held to the guardrails', async (revision) => {
      const client = await connect(revision)
      route = 'by the code word'
      const answer = await call(client, 'ask-person')
      expect(answer).toMatchObject({ isError: true })
      expect(JSON.stringify(answer.content)).toContain('no-codes')
    })

    test('the state that a client gives is held to the guardrails', async () => {
      const client = await connect('2026-07-28')
      const given = { requestState: 'the code word', inputResponses: { person: { action: 'cancel' } } }
      const params = { name: 'maps__ask-person', arguments: { from: 'here' }, ...given } as never
      const answer = await client.request({ method: 'tools/call', params })
      expect(answer).toMatchObject({ isError: true })
      expect(JSON.stringify(answer)).toContain('no-codes')
    })

    test.each(revisions)(
      'a tool that is withdrawn while a client of %s has a request does not go on',
      async (revision) => {
        const client = await connect(revision, { elicitation: {} })
        // By clients without sessions: the library caches a list.
        const isOffered = async () => {
          const { tools } = await (await connect(revisions[0] ?? '')).listTools()
          return tools.some(({ name }) => name === 'maps__ask-person')
        }
        client.setRequestHandler('elicitation/create', async () => {
          await (await admin()).ok(withdraw, { name: 'maps' })
          await waitUntil(async () => !(await isOffered()))
          return { action: 'accept', content: { route } }
        })
        try {
          await expect(call(client, 'ask-person')).rejects.toThrow('Unknown tool')
        } finally {
          await allow(['elicitation', 'sampling'])
          await waitUntil(isOffered)
        }
      },
    )
  })
})
