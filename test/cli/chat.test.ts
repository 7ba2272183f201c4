// `platform chat`: one message, a conversation at a terminal, tools on stderr, and a response that is cancelled.
import path from 'node:path'
import { expect, test } from 'vitest'
import { ann, setUpChat, signal_list } from '../roles/gateway/chat-site.ts'
import { requestTools, sayText } from '../support/chat/model-double.ts'
import { type CommandOptions, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const stage = setUpChat({ chat: { models: ['second'] } })
const env = async () => ({
  PLATFORM_SITE: path.dirname(stage().site.folder.profile),
  // The clock of the site is not that of the command, which would issue a token itself.
  PLATFORM_TOKEN: await stage().site.token(ann),
})
const chat = async (words: readonly string[], options: CommandOptions = {}) =>
  runCommand(['chat', ...words], { ...options, env: await env() })

test('a message gets its response on stdout, and the conversation to continue on stderr', async () => {
  stage().model.answerBy(sayText('two lines\nof text'))
  const { exit, stdout, stderr } = await chat(['hello'])
  expect([exit, stdout]).toEqual([0, 'two lines\nof text\n'])
  const [, id = ''] = /^Continue with --conversation (conversation_[0-9a-f]{32})\n$/.exec(stderr) ?? []
  expect((await chat(['again', '--conversation', id, '--model', 'second'])).exit).toBe(0)
  expect(stage().model.prompts[1]?.body).toMatchObject({ model: 'second', messages: { length: 4 } })
})

test('a message may come from stdin, and must not be empty', async () => {
  expect((await chat([], { input: 'hello from a file\n' })).stdout).toBe('hello\n')
  expect(stage().model.prompts[0]?.body.messages.at(-1)?.content).toBe('hello from a file')
  expect(await chat([], { input: '\n' })).toMatchObject({ exit: 2 })
})

test('tools are shown, and changes need an option', async () => {
  stage().model.answerBy(requestTools({ name: signal_list, arguments: '{"limit":2}' }), sayText('none'))
  const { stdout, stderr } = await chat(['list signals'])
  expect(stdout).toBe('none\n')
  expect(stderr).toContain(`calls ${signal_list} {"limit":2}\n${signal_list} answered\n`)
  await chat(['list signals', '--allow-changes'])
  const offered = stage().model.prompts.map(({ body }) => body.messages[0]?.content.includes('The user allows changes'))
  expect(offered).toEqual([false, false, true])
})

test('at a terminal each message continues the conversation, until the input ends', async () => {
  stage().model.answerBy(sayText('first'), sayText('second'))
  const { exit, stdout } = await chat([], { input: null, replies: ['one', '', 'two'] })
  expect([exit, stdout]).toEqual([0, 'first\nsecond\n'])
  expect(
    stage()
      .model.prompts[1]?.body.messages.map(({ content }) => content)
      .slice(1),
  ).toEqual(['one', 'first', 'two'])
})

test('at a terminal a refused message ends neither the command nor the conversation', async () => {
  stage().model.answerBy(sayText('first'), sayText(''), sayText('third'))
  const replies = ['one', 'x'.repeat(32_769), 'two']
  const { exit, stdout, stderr } = await chat([], { input: null, replies })
  expect([exit, stdout.split('\n')[0]]).toEqual([0, 'first'])
  expect(stderr).toMatch(/error: .*\n {2}message: must .*32,?768/)
  expect(stage().model.prompts[1]?.body.messages.at(-1)?.content).toBe('two')
})

test('as JSON it is the response of the interface', async () => {
  expect(await runJsonCommand(['chat', 'hello'], { env: await env() })).toMatchObject({
    response: 'hello',
    guide_guidance: null,
  })
})

test('text of a model cannot forge lines or move the cursor', async () => {
  stage().model.answerBy(sayText('\u001b[2Jgone\rover'))
  const { stdout } = await chat(['hello'])
  expect([stdout.includes('\u001b'), stdout.includes('\r'), stdout.includes('gone')]).toEqual([false, false, true])
})

test('an interrupt cancels the response, and ends the request to the model', async () => {
  let gone: Promise<unknown> = Promise.resolve()
  stage().model.answerBy((response, closed) => {
    gone = closed
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': wait\n\n', () => process.emit('SIGINT'))
  })
  expect(await chat(['hello'])).toMatchObject({ exit: 1, stdout: '', stderr: expect.stringContaining('Cancelled') })
  await gone
})

test.each(['', '/agentspace'])('the gateway may be that of AGENTSPACE_URL, with the path "%s"', async (path) => {
  const { PLATFORM_TOKEN } = await env()
  const AGENTSPACE_URL = `${stage().site.url('gateway')}${path}`
  const { exit, stdout } = await runCommand(['chat', 'hello'], { env: { AGENTSPACE_URL, PLATFORM_TOKEN } })
  expect([exit, stdout]).toEqual([0, 'hello\n'])
  const without = await runCommand(['chat', 'hello'], { env: { ...(await env()), AGENTSPACE_URL, PLATFORM_TOKEN: '' } })
  expect(without).toMatchObject({ exit: 2, stderr: expect.stringContaining('AGENTSPACE_URL needs a token') })
})

test('a site or URL that is named comes before AGENTSPACE_URL', async () => {
  const { PLATFORM_TOKEN, PLATFORM_SITE } = await env()
  const elsewhere = { AGENTSPACE_URL: 'http://127.0.0.1:1', PLATFORM_TOKEN }
  for (const words of [
    ['--site', PLATFORM_SITE],
    ['--url', stage().site.url('gateway')],
  ])
    expect(await runCommand(['chat', 'hello', ...words], { env: elsewhere })).toMatchObject({ exit: 0 })
  expect(await runCommand(['chat', 'hello'], { env: elsewhere })).toMatchObject({ exit: 4 })
})

test('a refusal is that of the site', async () => {
  const { exit, stderr } = await chat(['hello', '--model', 'third'])
  expect([exit, stderr]).toEqual([2, expect.stringContaining('the model is not allowed')])
})

test('conversations are listed and removed', async () => {
  stage().model.answerBy(sayText('noted'))
  const { conversation_id } = JSON.parse((await chat(['keep \u001b[2Jthis', '--json'])).stdout)
  const listed = await chat(['--list'])
  expect([listed.exit, listed.stdout]).toEqual([0, expect.stringContaining('keep \\u001b[2Jthis')])
  expect(listed.stdout).toContain(conversation_id)
  expect((await chat(['--list', '--limit', '1', '--json'])).stdout).toContain('"next_cursor"')
  expect((await chat(['--remove', conversation_id])).stdout).toBe(`removed ${conversation_id}\n`)
  expect((await chat(['--list', '--all'])).stdout).not.toContain(conversation_id)
  expect(await chat(['--remove', conversation_id])).toMatchObject({ exit: 1 })
  expect(await chat(['--list', '--remove', conversation_id])).toMatchObject({ exit: 2 })
})
