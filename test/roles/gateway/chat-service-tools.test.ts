// Tools of registered services in the chat: their services give hints, which make no read of a tool.
import { expect, onTestFinished, test } from 'vitest'
import { register } from '../../../daemon/roles/gateway/registration/register.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { requestTools, sayText } from '../../support/chat/model-double.ts'
import { startLibraryService } from '../../support/mcp/library-service.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ann, setUpChat } from './chat-site.ts'

const stage = setUpChat()

test('a tool that its service calls read-only counts as a change', async () => {
  const service = await startLibraryService('2026-07-28')
  onTestFinished(() => service.close())
  service.serviceInfo = { name: 'maps', mcp_path: '/mcp', tools_count: 4 }
  await service.define('echo', { annotations: { readOnlyHint: true } })
  const registrant = await stage().site.as({ subject: 'svc', roles: ['service'] })
  const url = service.url.origin
  await registrant.ok(register, { name: 'maps', url, ttl_seconds: 86_400, component_kind: 'library' })
  const admin = await stage().site.as({ subject: 'pat', roles: ['admin'] })
  const authentication = 'none'
  const { tools, url: reviewed } = await admin.ok(review, { name: 'maps', authentication })
  const read = tools.flatMap(({ name, sha256 = '' }) => (name === 'echo' ? [{ name, sha256 }] : []))
  await admin.ok(accept, { name: 'maps', url: reviewed, authentication, tools: read })
  const ask = async (allow_changes: boolean) => {
    stage().model.answerBy(requestTools({ name: 'maps__echo', arguments: '{}' }), sayText('done'))
    const { body } = await stage().say(ann, { message: 'echo on the maps', allow_changes })
    return body.tool_calls[0]?.outcome as string
  }
  await waitUntil(async () => (await ask(true)) === 'answered')
  const before = service.called.length
  expect(await ask(false)).toBe('refused')
  expect(service.called).toHaveLength(before)
})
