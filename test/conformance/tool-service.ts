// What a client of tool services keeps, whatever service of good faith it meets.
import { expect } from 'vitest'
import type { ToolServiceAddress, ToolServices } from '../../daemon/kernel/tools/tool-service.ts'
import type { LibraryService } from '../support/mcp/library-service.ts'

export type ToolServiceVariant = {
  readonly revision: string
  readonly service: LibraryService
  readonly services: ToolServices
}

const token = 'token-for-this-service'
const addressOf = ({ service: { url } }: ToolServiceVariant): ToolServiceAddress => ({ url, token: async () => token })

/** Title to the requirement. */
export const toolServiceRequirements: Readonly<Record<string, (variant: ToolServiceVariant) => Promise<void>>> = {
  async 'the revision of the service is used, and its name is known'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    expect([connection.revision, connection.service]).toEqual([variant.revision, { name: 'library', version: '1' }])
    await connection.close()
  },
  async 'a list is read page by page, to its end'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    expect((await connection.listTools()).map(({ name }) => name)).toEqual(['echo', 'count', 'wait', 'fail'])
    await connection.close()
  },
  async 'a call gives its result, and a failure of the tool is no refusal'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    const input = { a: 'ž', b: [1, { c: null }] }
    const result = await connection.callTool({ name: 'echo', input, timeout_ms: 5_000 })
    expect(result).toMatchObject({ is_error: false, structured_content: input })
    expect(await connection.callTool({ name: 'fail', input: {}, timeout_ms: 5_000 })).toMatchObject({ is_error: true })
    await connection.close()
  },
  async 'progress is reported in order'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    const seen: number[] = []
    const onProgress = ({ progress }: { progress: number }) => void seen.push(progress)
    await connection.callTool({ name: 'count', input: {}, timeout_ms: 5_000, onProgress })
    expect(seen).toEqual([1, 2, 3])
    await connection.close()
  },
  async 'a cancelled call ends here and at the service'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    const cancelling = new AbortController()
    const call = connection.callTool({ name: 'wait', input: {}, timeout_ms: 60_000, cancelled: cancelling.signal })
    const before = variant.service.credentials.length
    await expect.poll(() => variant.service.credentials.length).toBeGreaterThan(before)
    cancelling.abort()
    await expect(call).rejects.toMatchObject({ code: 'timeout', message: /cancelled/ })
    await expect.poll(() => variant.service.cancelled).toEqual(['wait'])
    await connection.close()
  },
  async 'a call beyond its time ends here and at the service'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    const call = connection.callTool({ name: 'wait', input: {}, timeout_ms: 300 })
    await expect(call).rejects.toMatchObject({ code: 'timeout', message: /within 300 ms/ })
    await expect.poll(() => variant.service.cancelled).toEqual(['wait'])
    await connection.close()
  },
  async 'a change of the list is reported, and the list read again has it'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await connection.listTools()
    const change = connection.waitForChange(new AbortController().signal)
    const adding = setInterval(() => void variant.service.addTool('more'), 50)
    try {
      expect(await change).toBe('changed')
    } finally {
      clearInterval(adding)
    }
    expect((await connection.listTools()).map(({ name }) => name)).toContain('more')
    await connection.close()
  },
  async 'a wait ends with its signal, and with the service'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    const ending = new AbortController()
    const wait = connection.waitForChange(ending.signal)
    ending.abort()
    expect(await wait).toBe('ended')
    await connection.close()
  },
  async 'each request carries the token of the supplier, and nothing else'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await connection.listTools()
    await connection.close()
    expect(new Set(variant.service.credentials)).toEqual(new Set([`Bearer ${token}`]))
  },
  async 'a service that is gone is unavailable'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await variant.service.close()
    await expect(connection.listTools()).rejects.toMatchObject({ code: 'unavailable' })
    await connection.close()
  },
}
