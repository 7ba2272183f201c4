// Sentences of users against the whole catalogue of the platform: the offline chat finds the right tool by words alone.
import { expect, test } from 'vitest'
import { everyRole } from '../../../daemon/every-role.ts'
import { deriveTools, type McpTool, toolOperations } from '../../../daemon/kernel/api/mcp-tools.ts'
import { operationsOf } from '../../../daemon/kernel/role/built-in-operations.ts'
import { runToEnd } from '../../../daemon/kernel/role/run-to-end.ts'
import { isQuestion, rankTools } from '../../../daemon/roles/gateway/chat/offline/rank-tools.ts'
import { readValues } from '../../../daemon/roles/gateway/chat/offline/read-values.ts'
import { splitTerms } from '../../../daemon/roles/gateway/chat/offline/split-terms.ts'

const catalogue: readonly McpTool[] = everyRole.flatMap((role) =>
  deriveTools(toolOperations('agentspace', operationsOf(role))).map((tool) => ({
    ...tool,
    name: `${role.name}-service__${tool.name}`,
  })),
)

/** 56 of these 60 were first before the ranking was tuned. */
const sentences: readonly (readonly [sentence: string, tool: string])[] = [
  ['list all signals', 'signal_list'],
  ['show me the latest signals', 'signal_list'],
  ['what alerts do we have?', 'signal_list'],
  ['list critical signals that are new', 'signal_list'],
  ['show signal sig_0123456789abcdef', 'signal_get'],
  ['which signals are similar to sig_0123456789abcdef?', 'signal_similar'],
  ['history of signal sig_0123456789abcdef', 'signal_history'],
  ['signals about entity ent_42', 'signal_by_entity'],
  ['signal statistics', 'signal_statistics'],
  ['how many signals were raised by each source?', 'signal_statistics'],
  ['acknowledge signal sig_0123456789abcdef', 'signal_acknowledge'],
  ['archive the signal sig_0123456789abcdef', 'signal_archive'],
  ['merge duplicate signals', 'signal_merge'],
  ['list the insights', 'insight_list'],
  ['show insight ins_77', 'insight_get'],
  ['close the insight ins_77', 'insight_close'],
  ['show the ledger of insight ins_77', 'insight_ledger'],
  ['open an insight about signal sig_0123456789abcdef', 'insight_open'],
  ['start investigating insight ins_77', 'insight_start_investigation'],
  ['which silences are active?', 'signal_silence_list'],
  ['end silence sil_9', 'signal_silence_end'],
  ['list the pipelines', 'datapipeline_list'],
  ['which data pipelines exist?', 'datapipeline_list'],
  ['status of pipeline pip_55', 'datapipeline_status'],
  ['pause pipeline pip_55', 'datapipeline_pause'],
  ['run the pipeline pip_55 now', 'datapipeline_run'],
  ['show the runs of pipeline pip_55', 'datapipeline_runs'],
  ['stop pipeline pip_55', 'datapipeline_stop'],
  ['delete pipeline pip_55', 'datapipeline_delete'],
  ['when does pipeline pip_55 run next? show its schedule', 'datapipeline_schedule_get'],
  ['list scheduled pipelines', 'datapipeline_schedule_list'],
  ['why did the run fail? show the error logs of dag_id=weather dag_run_id=run_1', 'datapipeline_run_errors'],
  ['list the dags of the scheduler', 'dag_list'],
  ['is the workflow scheduler healthy?', 'workflow_health'],
  ['list connections', 'connection_list'],
  ['test the connection con_5', 'connection_test'],
  ['show connection con_5', 'connection_get'],
  ['what template does a connection of type postgres have?', 'connection_schema'],
  ['list effects', 'effect_list'],
  ['which operators can an effect use?', 'effect_schema'],
  ['list lenses', 'lens_list'],
  ['show the lens len_8', 'lens_get'],
  ['list matches', 'entity_match_list'],
  ['explain the match mat_12', 'entity_match_explain'],
  ['which uncertain matches should I review?', 'entity_match_uncertain'],
  ['golden record of entity ent_42', 'golden_record_get'],
  ['how was entity ent_42 built?', 'entity_change_history'],
  ['entities related to ent_42 by phone', 'entity_related'],
  ['search records where name is Smith', 'entity_search'],
  ['list fusion runs', 'fusion_run_list'],
  ['summary of fusion run run_7', 'fusion_run_summary'],
  ['progress of the fusion run run_7', 'fusion_run_status'],
  ['cancel the fusion run run_7', 'fusion_run_cancel'],
  ['list consensus sessions', 'consensus_session_list'],
  ['get consensus session ses_3', 'consensus_session_get'],
  ['contributions of session ses_3', 'consensus_contribution_list'],
  ['explain the dissent dis_4', 'dissent_explain'],
  ['dissent records of session ses_3', 'dissent_by_session'],
  ['cancel the consensus session ses_3', 'consensus_session_cancel'],
  ['show evidence block blk_1', 'consensus_evidence_get'],
]

/** No rule was changed for these. */
const heldBack: readonly (readonly [sentence: string, tool: string])[] = [
  ['any new alarms with high severity?', 'signal_list'],
  ['give me the metrics of pipeline pip_55', 'datapipeline_metrics'],
  ['resume the pipeline pip_55', 'datapipeline_unpause'],
  ['undo the merge of signal sig_0123456789abcdef', 'signal_unmerge'],
  ['what did peers decide about lens len_8?', 'consensus_emission_list'],
  ['list bulk dispositions', 'signal_bulk_list'],
  ['which lens version is in use for each entity type?', 'lens_binding_list'],
  ['confirm the match mat_12', 'entity_match_review'],
  ['attest edition edi_2 of insight ins_77', 'edition_attest'],
  ['state of the tasks of run run_1 of the dag weather-daily', 'datapipeline_run_status'],
]

const rank = (message: string) => {
  const values = readValues(message)
  const hasValues = values.ids.length + values.quoted.length + values.named.size > 0
  return runToEnd(
    rankTools(catalogue, { terms: splitTerms(values.rest), hasValues, isQuestion: isQuestion(values.words) }),
  ).map(({ tool }) => tool.name.replace(/^.*__/, ''))
}

const misses = (table: typeof sentences) =>
  table.flatMap(([sentence, tool]) => {
    const at = rank(sentence).indexOf(tool)
    return at === 0 ? [] : [`${sentence} -> ${rank(sentence)[0]} (${tool} is at ${at})`]
  })

const rateOf = (table: typeof sentences) => 1 - misses(table).length / table.length

test('finds the right tool first', () => {
  expect(rateOf(sentences), misses(sentences).join('\n')).toBeGreaterThanOrEqual(0.97)
})

test('finds it for sentences that no rule was made for', () => {
  expect(rateOf(heldBack), misses(heldBack).join('\n')).toBeGreaterThanOrEqual(0.7)
  expect(heldBack.filter(([sentence, tool]) => !rank(sentence).slice(0, 3).includes(tool))).toEqual([])
})

test.each([
  ['quotes', '"'.repeat(32_768)],
  ['names', 'a='.repeat(16_384)],
  ['hyphens', 'a-'.repeat(16_384)],
  ['one word', 'a'.repeat(32_768)],
  ['blanks', ' '.repeat(32_768)],
])('a message of %s takes a few milliseconds', (_, message) => {
  const started = performance.now()
  splitTerms(readValues(message).rest)
  expect(performance.now() - started).toBeLessThan(100)
})

test('words that say nothing about an object find nothing', () => {
  for (const message of ['hello', 'hello again', 'thank you very much', 'what is the weather like?', ''])
    expect([message, rank(message)]).toEqual([message, []])
})
