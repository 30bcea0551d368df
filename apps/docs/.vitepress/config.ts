import { defineConfig } from 'vitepress';

export default defineConfig({
  title: 'Floodgate',
  description: 'Event registration for partner platforms',
  lang: 'en',
  outDir: 'dist',
  cacheDir: '../../node_modules/.cache/vitepress',
  themeConfig: { search: { provider: 'local' } },
});
