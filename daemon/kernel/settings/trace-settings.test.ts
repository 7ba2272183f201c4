// Settings that enable the export of spans, and settings that are refused.
import { expect, test } from 'vitest'
import { areSpansEnabled, traceSettings } from './trace-settings.ts'

const spansEnabled = (values: object) => areSpansEnabled(traceSettings.schema.parse(values))
const endpoint = 'http://collector:4318'

test.each([
  [{}, false],
  [{ endpoint }, true],
  [{ exporter: 'otlp' }, true],
  [{ enabled: true }, true],
  [{ enabled: 'True' }, true],
  [{ enabled: 'False', endpoint }, false],
  [{ enabled: false, exporter: 'otlp' }, false],
  [{ enabled: true, exporter: 'none' }, false],
  [{ enabled: true, disabled: true, endpoint }, false],
  [{ enabled: true, protocol: 'http/json' }, true],
])('with %j, export is %s', (values, isEnabled) => {
  expect(spansEnabled(values)).toBe(isEnabled)
})

test('an unsupported protocol is refused with the next step, and so is a switch that is not a boolean', () => {
  for (const protocol of ['grpc', 'http/protobuf', '']) {
    expect(() => spansEnabled({ protocol })).toThrow(
      /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/json.*OTEL_EXPORTER_OTLP_ENDPOINT/,
    )
  }
  expect(() => spansEnabled({ enabled: 'perhaps' })).toThrow(/OTEL_ENABLED must be true or false/)
})
