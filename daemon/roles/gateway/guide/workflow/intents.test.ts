// Which calls and messages generate workflows, and the artifacts that belong to them.
import { describe, expect, test } from 'vitest'
import type { Artifact } from '../artifact/model.ts'
import { findGeneratingTool, fitsWorkflowIntent, isGeneratingIntent, type WorkflowIntent } from './intents.ts'

test.each([
  [{ service: 'pipeline-service', tool: 'effect_create' }, 'effect'],
  [{ tool: 'pipeline-service__effect_update' }, 'effect'],
  [{ service: 'gateway', tool: 'pipeline-service__datapipeline_deploy' }, 'datapipeline'],
  [{ service: 'pipeline-service', tool: 'datapipeline_update' }, 'datapipeline'],
  [{ service: 'pipeline-service', tool: 'effect_run' }, undefined],
  [{ service: 'maps', tool: 'effect_create' }, undefined],
  [{ tool: 'effect_create' }, undefined],
])('%j generates %s', (name, object) => {
  expect(findGeneratingTool(name)?.kind.object).toBe(object)
})

test.each([
  ['create_effect', true],
  ['create_csv_pipelin', true],
  ['update_pipeline_orders', true],
  ['import_dag', true],
  ['find_effect', false],
  ['create_signal', false],
  ['unclassified', false],
])('the class %s generates a workflow: %s', (intent_class, expected) => {
  expect(isGeneratingIntent({ intent_class })).toBe(expected)
})

test('the choice of a tool makes an intent one, whatever its class', () => {
  const tools = [{ tool: 'intelligence-service__signal_list' }, { tool: 'pipeline-service__effect_create' }]
  expect(isGeneratingIntent({ intent_class: 'find_signal', tools })).toBe(true)
  expect(isGeneratingIntent({ tools: tools.slice(0, 1) })).toBe(false)
  expect(isGeneratingIntent({})).toBe(false)
})

describe('artifacts of such an intent', () => {
  const intent: WorkflowIntent = { intent_class: 'create_effect' }
  const of = (type: Artifact['type'], content: object, intent_class?: string) =>
    ({ type, content, applicability: { tags: [], ...(intent_class && { intent_class }) } }) as unknown as Artifact

  test('are patterns, maps of the service, and trajectories that succeeded', () => {
    expect(fitsWorkflowIntent(of('IntentPattern', {}), intent)).toBe(true)
    expect(fitsWorkflowIntent(of('CapabilityMap', { service: 'pipeline-service' }), intent)).toBe(true)
    expect(fitsWorkflowIntent(of('CapabilityMap', { service: 'maps' }), intent)).toBe(false)
    expect(fitsWorkflowIntent(of('DecisionTrajectory', { success_rate: 0.8 }), intent)).toBe(true)
    expect(fitsWorkflowIntent(of('DecisionTrajectory', { success_rate: 0.4 }), intent)).toBe(false)
    expect(fitsWorkflowIntent(of('FailurePattern', {}), intent)).toBe(false)
  })

  test('are those of its class, or of any', () => {
    expect(fitsWorkflowIntent(of('IntentPattern', {}, 'create_effect'), intent)).toBe(true)
    expect(fitsWorkflowIntent(of('IntentPattern', {}, 'create_pipeline'), intent)).toBe(false)
    expect(fitsWorkflowIntent(of('IntentPattern', {}), { intent_class: 'find_signal' })).toBe(false)
  })
})
