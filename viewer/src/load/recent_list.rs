//! Recent files on the landing page, with the way to forget them.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::recent::{self, Recent, Way};
use crate::state::actions::use_app;

/// What was opened lately.
#[component]
pub(crate) fn RecentFiles() -> impl IntoView {
    let list = RwSignal::new(Vec::<Recent>::new());
    let on = RwSignal::new(recent::is_on());
    spawn_local(async move {
        let found = recent::list().await;
        // The page may have moved on by now.
        let _ = list.try_set(found);
    });
    let switch = move |_| {
        let wanted = !on.get_untracked();
        on.set(wanted);
        list.set(Vec::new());
        spawn_local(recent::set_on(wanted));
    };
    let label = move || match on.get() {
        true => "Forget them and stop remembering",
        false => "Remember recent files",
    };
    view! {
        <section class="recent" data-testid="recent" data-state=move || on.get().to_string()>
            <Show when=move || list.with(|it| !it.is_empty())>
                <h3>"Recent"</h3>
                <ul>
                    <For each=move || list.get() key=|it| it.key.clone()
                        children=|recent| view! { <Entry recent/> }/>
                </ul>
            </Show>
            <p class="note">
                <Show when=move || on.get()>"Recent files stay in this browser. "</Show>
                <button type="button" class="link" data-testid="recent-switch"
                    on:click=switch>{label}</button>
            </p>
        </section>
    }
}

#[component]
fn Entry(
    /// What was opened.
    recent: Recent,
) -> impl IntoView {
    let app = use_app();
    let Recent {
        key,
        name,
        label,
        bytes,
        opened,
        way,
    } = recent;
    let about = match way {
        Way::Address => recent::ago(opened, recent::now()),
        Way::Kept | Way::Name => {
            format!(
                "{}, {}",
                recent::size(bytes),
                recent::ago(opened, recent::now())
            )
        }
    };
    let url = name.clone();
    let open = move |_| {
        let (key, url) = (key.clone(), url.clone());
        match way {
            Way::Address => app.open_address(&url),
            Way::Name => {}
            Way::Kept => spawn_local(async move {
                if let Some(file) = recent::file(&key).await {
                    app.open_file(&file);
                }
            }),
        }
    };
    let hint = match way {
        Way::Name => "Too large to keep: open it from its folder",
        Way::Kept | Way::Address => "Open again",
    };
    let hint = format!("{hint}: {name}");
    view! {
        <li>
            <button type="button" class="link" data-testid="recent-file" title=hint
                disabled=way == Way::Name on:click=open>{label}</button>
            " "<span class="note">{about}</span>
        </li>
    }
}
