"""Ways to reach models: one file per SDK, each a `core.models.Provider`.

A provider knows nothing of sessions, and its SDK is imported when it is first used.

- `openai`, `azure`, `anthropic`, `bedrock`, `ollama`, `embedded`, `recorded`: the providers
- `catalog`: a provider by its name; `calls`, with `attempt`, `endpoint` and `faults`: the one layer that calls them
- `access`, `addresses`, `ollama_host`: where a server is, and which key it gets
- `known`, `prices`, `tokens`: what is known of models beforehand (`data/models.toml`, genai-prices)
- `wire/`: what goes over the line, API by API; for the providers alone
- `discovery/`: what can be used here and now
- `hub/`: models from a hub, as files in the cache
"""
