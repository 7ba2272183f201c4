// What a client of tool services keeps, whatever service of good faith it meets.
import { expect } from 'vitest'
import type { RemoteTool, ToolServiceAddress, ToolServices } from '../../daemon/kernel/tools/tool-service.ts'
import type { TestedToolService } from '../support/mcp/tested-tool-service.ts'

export type ToolServiceVariant = {
  readonly revision: string
  readonly service: TestedToolService
  readonly services: ToolServices
}

const addressOf = ({ service: { url, token } }: ToolServiceVariant): ToolServiceAddress => ({
  url,
  token: async () => token,
})
const namesOf = (tools: readonly RemoteTool[]) => tools.map(({ name }) => name)
const forever = new AbortController().signal

/** Title to the requirement. */
export const toolServiceRequirements: Readonly<Record<string, (variant: ToolServiceVariant) => Promise<void>>> = {
  async 'the revision of the service is used, and its name is known'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    expect([connection.revision, connection.service]).toEqual([variant.revision, variant.service.about])
    await connection.close()
  },
  async 'a list is read page by page, to its end'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    expect(namesOf(await connection.listTools())).toEqual(variant.service.tools)
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
    const name = variant.service.reportsProgress ? 'count' : 'echo'
    await connection.callTool({ name, input: {}, timeout_ms: 5_000, onProgress })
    expect(seen).toEqual(variant.service.reportsProgress ? [1, 2, 3] : [])
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
    expect(await connection.waitForChange(forever), 'the reports begin').toBe('changed')
    const change = connection.waitForChange(forever)
    await variant.service.addTool('more')
    expect(await change).toBe('changed')
    expect(namesOf(await connection.listTools())).toContain('more')
    await connection.close()
  },
  async 'a change between two waits is reported by the next one, and by all that wait'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await connection.waitForChange(forever)
    expect(await connection.waitForChange(AbortSignal.abort())).toBe('ended')
    await variant.service.addTool('more')
    const waits = [connection.waitForChange(forever), connection.waitForChange(forever)]
    expect(await Promise.all(waits)).toEqual(['changed', 'changed'])
    await connection.close()
  },
  async 'a wait ends with its signal, and with the connection'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await connection.waitForChange(forever)
    const ending = new AbortController()
    const waits = [connection.waitForChange(ending.signal), connection.waitForChange(forever)]
    ending.abort()
    expect(await waits[0]).toBe('ended')
    await connection.close()
    expect(await waits[1]).toBe('ended')
  },
  async 'a wait ends when the service goes, and later ones know it'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await connection.waitForChange(forever)
    const wait = connection.waitForChange(forever).catch(({ code }: { code: string }) => code)
    await variant.service.close()
    const outcome = await wait
    expect(['ended', 'unavailable']).toContain(outcome)
    const again = await connection.waitForChange(forever).catch(({ code }: { code: string }) => code)
    expect(again).toBe(outcome)
    await connection.close()
  },
  async 'resources and templates are listed, each with what describes it'(variant) {
    const offered = await variant.service.offerResources()
    const connection = await variant.services.connect(addressOf(variant))
    expect(await connection.listResources()).toEqual(offered)
    await connection.close()
  },
  async 'a document is read by its URI, and one that does not exist has no contents'(variant) {
    const [resource] = await variant.service.offerResources()
    const connection = await variant.services.connect(addressOf(variant))
    if (resource) {
      const { uri } = resource
      expect((await connection.readResource({ uri, timeout_ms: 5_000 }))?.[0]).toMatchObject({ uri, text: uri })
      expect(await connection.readResource({ uri: `${uri}/absent`, timeout_ms: 5_000 })).toBeUndefined()
    }
    await connection.close()
  },
  async 'a change of the resources is reported'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await connection.waitForChange(forever)
    const isReported = connection.hasResources && connection.reportsAll
    const change = connection.waitForChange(isReported ? forever : AbortSignal.timeout(100))
    await variant.service.offerResources()
    expect(await change).toBe(isReported ? 'changed' : 'ended')
    await connection.close()
  },
  async 'each request carries the token of the supplier, and nothing else'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await connection.listTools()
    await connection.close()
    expect(new Set(variant.service.credentials)).toEqual(new Set([`Bearer ${variant.service.token}`]))
  },
  async 'a service that is gone is unavailable'(variant) {
    const connection = await variant.services.connect(addressOf(variant))
    await variant.service.close()
    await expect(connection.listTools()).rejects.toMatchObject({ code: 'unavailable' })
    await connection.close()
  },
}
