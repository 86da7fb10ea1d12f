import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { metrics } from '@opentelemetry/api';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type DataPoint,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';

/** A merchant's SDK, with exporters that keep in memory what the others would send. */
export function startTelemetry() {
  const spans = new InMemorySpanExporter();
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).register();
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  new HttpInstrumentation().enable();
  // The instrumentation patches a module when CommonJS asks for it.
  createRequire(import.meta.url)('node:http');

  async function collect() {
    exporter.reset();
    await reader.forceFlush();
    return exporter.getMetrics();
  }

  return {
    spans: (): readonly ReadableSpan[] => spans.getFinishedSpans(),
    reset: () => spans.reset(),
    /** The points of a metric, each with its labels. */
    async points(name: string): Promise<readonly DataPoint<unknown>[]> {
      const found = (await collect())
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap((scope) => scope.metrics);
      return found
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }): DataPoint<unknown>[] => dataPoints);
    },
    /** Every value that left, whatever it is called. */
    async everything(): Promise<{ readonly spans: string; readonly metrics: string }> {
      const whole = {
        depth: Infinity,
        maxArrayLength: null,
        maxStringLength: null,
        breakLength: Infinity,
      } as const;
      return {
        spans: inspect(spans.getFinishedSpans(), whole),
        metrics: inspect(await collect(), whole),
      };
    },
  };
}
