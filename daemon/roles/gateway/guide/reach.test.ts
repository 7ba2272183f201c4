// The reach of the guidance layer (document 002, "Authentication", rule 6), by its code: which modules it imports, which powers of a
// call it uses, which parts of the gateway it is given, and how it touches audit records. `prohibitions.test.ts` tries the same from outside.
import { expect, test } from 'vitest'
import { listRepositoryFiles, readSource } from '../../../../test/support/repository/source-tree.ts'

const own = /^daemon\/roles\/gateway\/guide\//
const workers =
  /^daemon\/roles\/gateway\/workers\/(coalesce|follow-artifacts|ingest-observations|learn-guidance|maintain-guidance|synthesise-guidance|write-lineage)\.ts$/
const isTest = /\.test\.ts$/
const sources = listRepositoryFiles()
  .filter((file) => (own.test(file) || workers.test(file)) && !isTest.test(file))
  .map(readSource)

/**
 * Modules of the gateway beside the layer: its chat, whose machinery the chat of administrators shares, names of tools, kinds of
 * services, and the search for texts and misleading marks in them.
 */
const gatewayModules =
  /^daemon\/roles\/gateway\/(chat\/|tool\/aggregated-tool|service-tool\/(parts|findings)|registered-service\/load-services|guardrail\/collect-texts)/
/** Modules of the kernel that decide on callers, tokens, guardrails, audit chains or requests to others. */
const kernelModules =
  /^daemon\/kernel\/(audit|api\/(?!mcp-tools)|http|identity\/(?!identity\.ts)|keys|links|proxy|network\/(?!backoff))/

test('it imports no module that decides on authentication, guardrails, quotas, registrations, tokens or audit chains', () => {
  const found = sources.flatMap(({ path, imports }) => {
    const elsewhere = imports.filter(
      (each) =>
        kernelModules.test(each) ||
        /^(adapters|daemon\/(boot|runtime|offline))\//.test(each) ||
        each.startsWith('node:') ||
        (/^daemon\/roles\//.test(each) && !own.test(each) && !workers.test(each) && !gatewayModules.test(each)),
    )
    return elsewhere.map((each) => `${path}: ${each}`)
  })
  expect(found).toEqual([])
  expect(sources.length).toBeGreaterThan(100)
})

test('it acts in nobody’s name and calls no other role: of a call it uses neither delegation nor the clients of roles', () => {
  const powers = /\.(delegation|openCallOf|openConfinedCall|authorization)\b|\bcall\.roles\b/
  expect(sources.flatMap(({ path, text }) => (powers.test(text) ? [path] : []))).toEqual([])
})

/** Parts that others made: the tools that a caller may use, of which it reads names, and the models of the profile. */
const parts = new Set([
  ...['chatPart', 'embedderPart', 'guideModelPart', 'hintScheduleParserPart', 'serviceToolsPart'],
  ...['guidancePart', 'guideCountsPart', 'learnerPart', 'learningPart', 'observerPart', 'synthesisPart'],
])

test('it is given these parts of the gateway, and no other', () => {
  const named = sources.flatMap(({ text }) => [...text.matchAll(/\.part\((\w+)/g)].map(([, name = '']) => name))
  expect([...new Set(named)].filter((name) => !parts.has(name))).toEqual([])
  expect(named).toContain('chatPart')
  // Of registered services it knows their names alone; of the chat the list of tools.
  const uses = sources.flatMap(({ text }) => [
    ...[...text.matchAll(/part\(chatPart\)(\.\w+)/g)].map(([, use]) => use),
    ...[...text.matchAll(/const \{ ([\w, ]+) \} = call\.part\(serviceToolsPart\)/g)].map(([, use]) => use),
  ])
  expect(new Set(uses)).toEqual(new Set(['.tools', 'own, states']))
})

test('its audit records are created and read, and never changed or removed', () => {
  const touching = sources.filter(({ text }) => /\bguideAudits\b/.test(text) && !/export const guideAudits/.test(text))
  expect(touching.length).toBeGreaterThan(4)
  const changes = touching.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/const (\w+) = call\.store\(guideAudits\)/g)].map(([, name]) => name)
    const direct = [...text.matchAll(/store\(guideAudits\)\.(\w+)/g)].map(([, use]) => use)
    const named = names.flatMap((name) =>
      [...text.matchAll(new RegExp(`\\b${name}\\.(\\w+)\\(`, 'g'))].map(([, use]) => use),
    )
    return [...direct, ...named]
      .filter((use = '') => !['create', 'find', 'get', 'list', 'page', 'count', 'countBy'].includes(use))
      .map((use) => `${path}: ${use}`)
  })
  expect(changes).toEqual([])
})

test('of conversations it opens those of the chat of administrators alone', () => {
  const touching = sources.filter(({ imports }) => imports.some((each) => each.endsWith('chat/conversation.ts')))
  expect(touching.map(({ path }) => path)).toEqual(['daemon/roles/gateway/guide/chat/send.ts'])
  expect(touching[0]?.text).toContain("ownerOf(call, 'guidance')")
  expect(
    sources.filter(({ text }) => /store\((conversations|chatTraces)\)/.test(text)).map(({ path }) => path),
  ).toEqual([])
})
