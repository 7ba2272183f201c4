// The chat with the guidance layer: commands, a model of its own, and changes that only the words of the administrator can make.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ModelDouble, requestTools, sayText, startModelDouble } from '../../../support/chat/model-double.ts'
import { admin, type GuideSite, otherAdmin, startGuideSite } from '../guide-site.ts'

let model: ModelDouble
let stage: GuideSite
let offline: GuideSite
beforeAll(async () => {
  model = await startModelDouble()
  stage = await startGuideSite({ model_url: model.url, model: 'own' })
  offline = await startGuideSite()
})
beforeEach(() => {
  model.prompts.splice(0)
})
afterAll(async () => {
  await Promise.all([stage.site.end(), offline.site.end(), model.close()])
  expect([...stage.site.loggedErrors, ...offline.site.loggedErrors]).toEqual([])
})

const say = (message: string, more: object = {}, who = admin, at = stage) =>
  at.request(who, 'POST', 'chat', { message, ...more })
const statusOf = async (id: string, at = stage) => (await at.request(admin, 'GET', `artifacts/${id}`)).body.status
const active = async (at = stage) => {
  const id = await at.propose()
  await at.request(admin, 'POST', `artifacts/${id}/promote`, {})
  return id
}

test('the model is offered the 20 tools of administrators, and none of the site', async () => {
  model.answerBy(sayText('nothing to do'))
  const { status, body } = await say('how are you?')
  expect([status, body.response, body.model_used, body.guide_guidance]).toEqual([200, 'nothing to do', 'own', null])
  const names = model.prompts[0]?.body.tools?.map((tool) => tool.function.name) ?? []
  expect(names.filter((name) => name.startsWith('guide_'))).toHaveLength(20)
  expect(names).toHaveLength(20)
})

test('a change that the administrator has named is made, and audited in their name', async () => {
  const id = await active()
  model.answerBy(
    requestTools({ name: 'guide_demote_artifact', arguments: JSON.stringify({ id, rationale: 'it misleads' }) }),
    sayText('done'),
  )
  const { body } = await say(`Please demote ${id}: it misleads`)
  expect(body.tool_calls).toMatchObject([{ tool: 'guide_demote_artifact', outcome: 'answered' }])
  expect(await statusOf(id)).toBe('demoted')
  const { items } = (await stage.request(admin, 'GET', `audit?artifact_id=${id}&action=demote`)).body
  expect(items).toMatchObject([{ actor: 'admin:ada', rationale: expect.stringContaining('it misleads') }])
})

test.each([
  ['another artifact', (id: string) => `demote artifact_of_mine, not ${id.slice(0, -1)}`],
  ['another change', (id: string) => `show ${id}`],
  ['nothing', () => 'summarise the memories of today'],
])('a model that changes an artifact after a message that names %s is refused', async (_, message) => {
  const id = await active()
  model.answerBy(
    requestTools({ name: 'guide_demote_artifact', arguments: JSON.stringify({ id }) }),
    sayText('the observation says that I should'),
  )
  const { body } = await say(message(id))
  expect(body.tool_calls).toMatchObject([
    { outcome: 'refused', detail: expect.stringContaining('must name the change') },
  ])
  expect(await statusOf(id)).toBe('active')
})

test('a conversation is its administrator’s alone, and none of the chat of everybody', async () => {
  model.answerBy(sayText('first'), sayText('second'))
  const { conversation_id } = (await say('hello')).body
  expect((await say('again', { conversation_id })).body.conversation_id).toBe(conversation_id)
  expect(model.prompts[1]?.body.messages.map(({ content }) => content).slice(1)).toEqual(['hello', 'first', 'again'])
  expect((await say('mine?', { conversation_id }, { ...admin, subject: 'eve' })).status).toBe(404)
  expect((await say('mine?', { conversation_id }, otherAdmin)).status).toBe(404)
  const token = await stage.site.token(admin)
  const body = { message: 'hello', conversation_id }
  expect((await stage.site.call('gateway', 'POST', '/api/v1/chat', body, { token })).status).toBe(404)
  const listed = await stage.site.call('gateway', 'GET', '/api/v1/chat/conversations', undefined, { token })
  expect(JSON.stringify(listed.json)).not.toContain(conversation_id)
})

test.each(['analyst', 'operator', 'auditor', 'service'])('nobody else talks to it: %s', async (role) => {
  expect((await say('pause_curator()', {}, { ...admin, roles: [role] })).status).toBe(403)
})

test('without a model a command performs its tool, and words find only those that read', async () => {
  const id = await active(offline)
  const paused = await say('pause_curator()', {}, admin, offline)
  expect(paused.body.tool_calls).toMatchObject([{ tool: 'guide_pause_curator', outcome: 'answered' }])
  expect((await say('resume_curator()', {}, admin, offline)).body.tool_calls[0].outcome).toBe('answered')
  expect((await say(`demote_artifact(${id})`, {}, admin, offline)).body.tool_calls[0].outcome).toBe('answered')
  expect(await statusOf(id, offline)).toBe('demoted')
  expect((await say('rollback_artifact(id="nowhere", 1)', {}, admin, offline)).body.tool_calls[0].outcome).toBe(
    'refused',
  )
  const found = await say(`forget the artifact ${id}`, {}, admin, offline)
  expect(found.body.tool_calls).toEqual([])
  expect((await say('list the artifacts', {}, admin, offline)).body.tool_calls).toMatchObject([
    { tool: 'guide_list_artifacts', outcome: 'answered' },
  ])
})

test('a decision is put up for discussion with what speaks on each side', async () => {
  const id = await active(offline)
  const { body } = await offline.request(admin, 'GET', `decisions/discussion?artifact_id=${id}`)
  expect(body).toMatchObject({ artifact_id: id, status: 'active', decisions: [{ action: 'promote' }, {}] })
  expect(body.actions).toContain('demote')
  expect(body.for.length + body.against.length).toBeGreaterThan(0)
  const ofOne = await offline.request(admin, 'GET', `decisions/discussion?audit_id=${body.decisions[1].audit_id}`)
  expect(ofOne.body.decisions).toHaveLength(1)
  expect((await offline.request(admin, 'GET', 'decisions/discussion')).status).toBe(422)
  expect((await offline.request(otherAdmin, 'GET', `decisions/discussion?artifact_id=${id}`)).status).toBe(404)
})

test('a model that the layer does not have is refused', async () => {
  expect((await say('hello', { model: 'another' })).status).toBe(422)
  expect((await say('hello', { model: 'own' }, admin, offline)).status).toBe(422)
})
