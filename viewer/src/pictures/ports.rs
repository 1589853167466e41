//! Exchange ports as pixels: sending, receiving, both, a lent lane, waiting inside an exchange.

use crate::engine::ports::PortsAnswer;
use crate::theme::{PortInks, Theme};
use crate::timeline::scene::{Bitmap, Colour};

/// One pixel a cell: the role that took most of it, the stronger the more of the cell it took.
pub(crate) fn bitmap(ports: &PortsAnswer, theme: Theme, id: u64) -> Bitmap {
    let palette = theme.palette();
    let inks = theme.ports();
    let [send, receive, lent, exchange] = &ports.planes;
    let cells = ports.columns as usize * ports.rows as usize;
    let mut rgba = Vec::with_capacity(cells * 4);
    for at in 0..cells {
        let of = |plane: &[u8]| plane.get(at).copied().unwrap_or(0);
        let (ink, share) = dominant(&inks, [of(send), of(receive), of(lent)]);
        let base = if of(exchange) > 0 {
            blend(palette.nothing, inks.open, of(exchange))
        } else {
            palette.nothing
        };
        let Colour {
            red, green, blue, ..
        } = match share {
            0 => base,
            // The thinnest transfer still shows.
            share => blend(base, ink, share.max(64)),
        };
        rgba.extend_from_slice(&[red, green, blue, 255]);
    }
    Bitmap {
        id,
        columns: ports.columns,
        rows: ports.rows,
        rgba,
    }
}

/// Sending and receiving together is a role of its own where both take more than half of the cell's
/// busier one.
fn dominant(inks: &PortInks, [send, receive, lent]: [u8; 3]) -> (Colour, u8) {
    let (less, more) = (send.min(receive), send.max(receive));
    if less > 0 && u16::from(less) * 2 >= u16::from(more) && more >= lent {
        return (inks.both, more);
    }
    if send >= receive && send >= lent {
        (inks.send, send)
    } else if receive >= lent {
        (inks.receive, receive)
    } else {
        (inks.lent, lent)
    }
}

fn blend(under: Colour, over: Colour, share: u8) -> Colour {
    let mix = |under: u8, over: u8| {
        let (under, over, share) = (u32::from(under), u32::from(over), u32::from(share));
        u8::try_from((under * (255 - share) + over * share) / 255).unwrap_or(u8::MAX)
    };
    Colour {
        red: mix(under.red, over.red),
        green: mix(under.green, over.green),
        blue: mix(under.blue, over.blue),
        alpha: 255,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_colour_of_what_took_most_of_it() {
        let ports = PortsAnswer {
            columns: 5,
            rows: 1,
            planes: [
                vec![255, 0, 255, 0, 0],
                vec![0, 255, 255, 0, 0],
                vec![0, 0, 0, 255, 0],
                vec![255, 255, 255, 255, 0],
            ],
            ..PortsAnswer::default()
        };
        let inks = Theme::Light.ports();
        let bitmap = bitmap(&ports, Theme::Light, 1);
        let expected = [
            inks.send,
            inks.receive,
            inks.both,
            inks.lent,
            Theme::Light.palette().nothing,
        ];
        for (pixel, colour) in bitmap.rgba.chunks(4).zip(expected) {
            assert_eq!(pixel, [colour.red, colour.green, colour.blue, 255]);
        }
    }

    #[test]
    fn the_thinnest_transfer_is_seen() {
        let ports = PortsAnswer {
            columns: 1,
            rows: 1,
            planes: [vec![1], vec![0], vec![0], vec![1]],
            ..PortsAnswer::default()
        };
        let nothing = Theme::Dark.palette().nothing;
        let pixel = &bitmap(&ports, Theme::Dark, 1).rgba[..3];
        assert_ne!(pixel, [nothing.red, nothing.green, nothing.blue]);
    }
}
