// Which scenarios of the public conformance tool hold for /agentspace, and why each other one does not apply.

/** A scenario's name to what must hold of it: all of its checks, or all but those named, each with its reason. */
export type ApplicableScenarios = Readonly<Record<string, Readonly<Record<string, string>>>>

const allChecks = {}

const fixture = (tool: string) => `calls the suite's own tool ${tool}, which no service but its example has`
/** Holds for consensus; the resources of the gateway are those of other roles, and not those of the scenarios. */
export const noResources = 'the service offers no resources, and says so in its capabilities'
const noPrompts = 'the service offers no prompts, and says so in its capabilities'
const asksNothing = 'asks back for input in the middle of a call; no operation here does'

/** The same in every revision. */
const everywhere: Readonly<Record<string, string>> = {
  'completion-complete': 'completes arguments of prompts, of which there are none',
  'tools-call-simple-text': fixture('test_simple_text'),
  'tools-call-image': fixture('test_image_content'),
  'tools-call-audio': fixture('test_audio_content'),
  'tools-call-embedded-resource': fixture('test_embedded_resource'),
  'tools-call-mixed-content': fixture('test_multiple_content_types'),
  'tools-call-error': `${fixture('test_error_handling')}; errors of our tools: test/mcp/every-tool.test.ts`,
  'tools-call-with-progress': fixture('test_tool_with_progress'),
  'resources-list': noResources,
  'resources-read-text': noResources,
  'resources-read-binary': noResources,
  'resources-templates-read': noResources,
  'prompts-list': noPrompts,
  'prompts-get-simple': noPrompts,
  'prompts-get-with-args': noPrompts,
  'prompts-get-embedded-resource': noPrompts,
  'prompts-get-with-image': noPrompts,
}

const untilStateless: Readonly<Record<string, string>> = {
  ...everywhere,
  'logging-set-level': 'the service sends no log messages to clients, and says so in its capabilities',
  'tools-call-with-logging': fixture('test_tool_with_logging'),
  'tools-call-sampling': asksNothing,
  'tools-call-elicitation': asksNothing,
  'resources-subscribe': noResources,
  'resources-unsubscribe': noResources,
}

const since2025_11: Readonly<Record<string, string>> = {
  ...untilStateless,
  'json-schema-2020-12': fixture('json_schema_2020_12_tool'),
  'elicitation-sep1034-defaults': asksNothing,
  'elicitation-sep1330-enums': asksNothing,
  'server-sse-polling': `${fixture('test_reconnection')}; answers are whole documents, so there is no stream to resume`,
}

const needsTool = fixture('that it looks for')

export type ConformanceSuite = {
  readonly revision: string
  readonly applicable: ApplicableScenarios
  readonly excluded: Readonly<Record<string, string>>
}

/** By the environment variable that names the tool: its two lines judge different revisions. */
export const suites: Readonly<Record<string, readonly ConformanceSuite[]>> = {
  MCP_CONFORMANCE_0_1: [
    {
      revision: '2025-06-18',
      applicable: { 'server-initialize': allChecks, ping: allChecks, 'tools-list': allChecks },
      excluded: untilStateless,
    },
    {
      revision: '2025-11-25',
      applicable: {
        'server-initialize': allChecks,
        ping: allChecks,
        'tools-list': allChecks,
        'dns-rebinding-protection': allChecks,
      },
      excluded: {
        ...since2025_11,
        'server-sse-multiple-streams':
          'names revision 2025-03-26 in a session of another; that is refused here, and the later line of the tool has it right',
      },
    },
  ],
  MCP_CONFORMANCE_0_2: [
    {
      revision: '2025-06-18',
      applicable: {
        'server-initialize': allChecks,
        'server-session-lifecycle': allChecks,
        ping: allChecks,
        'tools-list': allChecks,
      },
      excluded: untilStateless,
    },
    {
      revision: '2025-11-25',
      applicable: {
        'server-initialize': allChecks,
        'server-session-lifecycle': allChecks,
        ping: allChecks,
        'tools-list': allChecks,
        'server-sse-multiple-streams': allChecks,
        'dns-rebinding-protection': allChecks,
      },
      excluded: since2025_11,
    },
    {
      revision: '2026-07-28',
      applicable: {
        'server-stateless': {
          'sep-2575-server-rejects-undeclared-capability': needsTool,
          'sep-2575-missing-capability-http-400': needsTool,
          'sep-2575-http-server-no-independent-requests-on-stream': needsTool,
          'sep-2575-server-no-log-without-loglevel': needsTool,
          'sep-2575-server-sends-tools-list-changed-on-subscription': needsTool,
        },
        'tools-list': allChecks,
        'server-sse-multiple-streams': allChecks,
        'dns-rebinding-protection': allChecks,
        caching: {
          'sep-2549-prompts-list-caching-hints': noPrompts,
          'sep-2549-resources-list-caching-hints': noResources,
          'sep-2549-resources-templates-list-caching-hints': noResources,
        },
        'http-header-validation': allChecks,
        'input-required-result-unsupported-methods': allChecks,
      },
      excluded: {
        ...everywhere,
        'json-schema-2020-12': fixture('json_schema_2020_12_tool'),
        'sep-2164-resource-not-found': noResources,
        'http-custom-header-server-validation': 'no tool asks for parameters in headers (x-mcp-header)',
        'input-required-result-basic-elicitation': asksNothing,
        'input-required-result-basic-sampling': asksNothing,
        'input-required-result-basic-list-roots': asksNothing,
        'input-required-result-request-state': asksNothing,
        'input-required-result-multiple-input-requests': asksNothing,
        'input-required-result-multi-round': asksNothing,
        'input-required-result-missing-input-response': asksNothing,
        'input-required-result-non-tool-request': asksNothing,
        'input-required-result-result-type': asksNothing,
        'input-required-result-tampered-state': asksNothing,
        'input-required-result-capability-check': asksNothing,
        'input-required-result-validate-input': asksNothing,
        'input-required-result-ignore-extra-params': asksNothing,
      },
    },
  ],
}
