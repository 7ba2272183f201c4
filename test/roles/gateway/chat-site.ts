// A site with the gateway, the signals of intelligence, and a double of a model; its people talk to the chat.
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { type ModelDouble, sayText, startModelDouble } from '../../support/chat/model-double.ts'
import { buildSignalInput } from '../../support/every-operation/intelligence-objects.ts'
import { createTestSite, type ProfileSections, type TestSite, type TokenHolder } from '../../support/site/test-site.ts'

export type ChatWorld = {
  readonly site: TestSite
  readonly model: ModelDouble
  readonly events: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[]
  /** Answer of `POST /api/v1/chat` as `status` and body. */
  say(
    who: TokenHolder,
    body: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ChatAnswer>
  feedback(who: TokenHolder, body: Readonly<Record<string, unknown>>): Promise<ChatAnswer>
  /** Events of the streamed variant, in their order. */
  stream(
    who: TokenHolder,
    body: Readonly<Record<string, unknown>>,
  ): Promise<{ event: string; data: Record<string, unknown> }[]>
  /** Raises a signal as ann, at this level. */
  raise(title: string, classification?: string): Promise<void>
  /** Ends both; the site must have logged no error. */
  end(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which tests compare
export type ChatAnswer = { readonly status: number; readonly body: any; readonly traceparent: string | undefined }

export const ann: TokenHolder = { subject: 'ann', roles: ['analyst'], clearance: { level: 'TOP_SECRET' } }
export const bob: TokenHolder = { subject: 'bob', roles: ['analyst'], clearance: { level: 'TOP_SECRET' } }
export const signal_list = 'intelligence-service__signal_list'
export const create_signal = 'intelligence-service__create_signal'

/** `chat`: the section of the profile; without `model_url`, that of the double is used unless `isOffline`. */
export type ChatWorldOptions = {
  readonly chat?: Readonly<Record<string, unknown>>
  readonly isOffline?: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly profile?: ProfileSections
}

export function setUpChat(options: ChatWorldOptions = {}): () => ChatWorld {
  let world: ChatWorld | undefined
  beforeAll(async () => {
    world = await startChatWorld(options)
  })
  beforeEach(() => {
    world?.model.prompts.splice(0)
    world?.model.answerBy(sayText('hello'))
  })
  afterAll(() => world?.end())
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}

export async function startChatWorld({
  chat,
  isOffline = false,
  env = {},
  profile,
}: ChatWorldOptions): Promise<ChatWorld> {
  const model = await startModelDouble()
  const events: ChatWorld['events'] = []
  const site = await createTestSite({
    profile: {
      platform: { roles: ['site', 'intelligence', 'gateway'], deployment_profile: 'single_cluster' },
      gateway: { port: 0 },
      intelligence: { port: 0 },
      chat: isOffline ? { ...chat } : { model_url: model.url, model: 'double', api_key: 'key-of-the-site', ...chat },
      ...profile,
    },
    env,
    onEvent: (event, fields) => void events.push({ event, fields }),
  })
  await site.start()
  return createWorld(site, model, events)
}

function createWorld(site: TestSite, model: ModelDouble, events: ChatWorld['events']): ChatWorld {
  const post = async (who: TokenHolder, at: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await site.call('gateway', 'POST', at, body, { token: await site.token(who), headers })
    return {
      status: answer.status,
      body: answer.json,
      text: answer.text,
      traceparent: answer.headers.get('traceparent') ?? undefined,
    }
  }
  return {
    ...{ site, model, events },
    say: (who, body, headers) => post(who, '/api/v1/chat', body, headers),
    feedback: (who, body) => post(who, '/api/v1/chat/feedback', body),
    async stream(who, body) {
      const { text } = await post(who, '/api/v1/chat', body, { accept: 'text/event-stream' })
      return text
        .split('\n\n')
        .filter((block) => block.includes('data: '))
        .map((block) => ({
          event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
          data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}'),
        }))
    },
    async end() {
      await site.end()
      await model.close()
      expect(site.loggedErrors).toEqual([])
    },
    async raise(title, classification = 'UNCLASSIFIED') {
      const token = await site.token(ann)
      const body = { ...buildSignalInput({ classification }), title }
      expect((await site.call('intelligence', 'POST', '/api/v1/signal', body, { token })).status).toBe(201)
    },
  }
}
