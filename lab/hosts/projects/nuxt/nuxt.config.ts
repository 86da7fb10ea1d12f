export default defineNuxtConfig({ compatibilityDate: '2026-07-01', telemetry: false });
